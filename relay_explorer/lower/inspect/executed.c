/* A plugin of QEMU that counts the instructions which a program executes, by the function that contains them and by
   their mnemonic. It counts how often each block of instructions is entered; the sums are formed at the end. The
   declarations are those of QEMU's plugin interface, whose header few systems install. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uint64_t plugin_id;
struct block;
struct instruction;
struct information;

typedef void (*translated_callback)(plugin_id id, struct block *block);
typedef void (*entered_callback)(unsigned processor, void *data);
typedef void (*ended_callback)(plugin_id id, void *data);

void qemu_plugin_register_vcpu_tb_trans_cb(plugin_id id, translated_callback callback);
void qemu_plugin_register_vcpu_tb_exec_cb(struct block *block, entered_callback callback, int registers, void *data);
void qemu_plugin_register_atexit_cb(plugin_id id, ended_callback callback, void *data);
size_t qemu_plugin_tb_n_insns(const struct block *block);
struct instruction *qemu_plugin_tb_get_insn(const struct block *block, size_t index);
char *qemu_plugin_insn_disas(const struct instruction *instruction);
const char *qemu_plugin_insn_symbol(const struct instruction *instruction);

#define EXPORT __attribute__((visibility("default")))
EXPORT int qemu_plugin_version = INTERFACE;

enum { LONGEST_MNEMONIC = 16 };

/* An instruction of a block: its function and its mnemonic. */
typedef struct {
  const char *symbol;
  char mnemonic[LONGEST_MNEMONIC];
} Place;

typedef struct Entered {
  struct Entered *next;
  uint64_t times;
  size_t length;
  Place places[];
} Entered;

static Entered *blocks;
static FILE *output;

static void *allocated(size_t size) {
  void *memory = calloc(1, size);
  if (!memory) {
    fprintf(stderr, "the plugin that counts instructions has no memory left\n");
    abort();
  }
  return memory;
}

static void enter(unsigned processor, void *data) {
  (void)processor;
  __atomic_fetch_add(&((Entered *)data)->times, 1, __ATOMIC_RELAXED);
}

static void translate(plugin_id id, struct block *block) {
  (void)id;
  size_t length = qemu_plugin_tb_n_insns(block);
  Entered *entered = allocated(sizeof *entered + length * sizeof entered->places[0]);
  entered->length = length;
  for (size_t k = 0; k < length; k++) {
    struct instruction *instruction = qemu_plugin_tb_get_insn(block, k);
    const char *symbol = qemu_plugin_insn_symbol(instruction);
    entered->places[k].symbol = symbol && *symbol ? symbol : "?";
    char *text = qemu_plugin_insn_disas(instruction);
    size_t letters = text ? strcspn(text, " \t") : 0;
    if (letters >= LONGEST_MNEMONIC) letters = LONGEST_MNEMONIC - 1;
    if (text) memcpy(entered->places[k].mnemonic, text, letters);
    free(text);
  }
  Entered *first = __atomic_load_n(&blocks, __ATOMIC_RELAXED);
  do entered->next = first;
  while (!__atomic_compare_exchange_n(&blocks, &first, entered, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED));
  qemu_plugin_register_vcpu_tb_exec_cb(block, enter, 0, entered);
}

/* Writes a line for each instruction that was executed: its function, its mnemonic, and how often. */
static void end(plugin_id id, void *data) {
  (void)id;
  (void)data;
  for (const Entered *entered = blocks; entered; entered = entered->next)
    for (size_t k = 0; entered->times && k < entered->length; k++)
      fprintf(output, "%s %s %llu\n", entered->places[k].symbol, entered->places[k].mnemonic,
              (unsigned long long)entered->times);
  fclose(output);
}

/* The argument `to=FILE` names the file that the counts are written to. */
EXPORT int qemu_plugin_install(plugin_id id, const struct information *about, int count, char **arguments) {
  (void)about;
  if (count != 1 || strncmp(arguments[0], "to=", 3) || !(output = fopen(arguments[0] + 3, "w"))) return -1;
  qemu_plugin_register_vcpu_tb_trans_cb(id, translate);
  qemu_plugin_register_atexit_cb(id, end, NULL);
  return 0;
}
