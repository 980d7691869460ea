/* Reads sentences, one per line; each is a word, or a pair of two in parentheses: ((the film) (is (not bad))).
   Prints the most likely mood of each sentence, and the probabilities of all moods. */

#include "sentiment.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* WORDS */

static sentiment_value vector_of(sentiment *m, const char *word, size_t length) {
  static const int64_t shape[] = {1, INPUTS};
  for (int k = 0; k < WORDS; k++)
    if (strlen(words[k].word) == length && !memcmp(words[k].word, word, length))
      return sentiment_Word(m, sentiment_tensor(m, sentiment_float32, 2, shape, words[k].vector));
  return NULL;
}

/* Parses a line to a tree. Returns NULL if it is not one, and writes the reason to `problem`. The stack is as large
   as the line; a NULL on it marks an open parenthesis. */
static sentiment_value tree_of(sentiment *m, const char *line, char *problem, size_t room) {
  sentiment_value *stack = malloc((strlen(line) + 1) * sizeof *stack), tree = NULL;
  size_t top = 0;
  problem[0] = 0;
  if (!stack) snprintf(problem, room, "the line is too long");
  while (!problem[0]) {
    line += strspn(line, " \t\r\n");
    if (!*line) {
      if (top == 1 && stack[0])
        tree = stack[--top];
      else
        snprintf(problem, room, top ? "a parenthesis is not closed, or words stand alone" : "there are no words");
      break;
    }
    if (*line == '(') {
      stack[top++] = NULL;
      line++;
    } else if (*line == ')') {
      if (top < 3 || !stack[top - 1] || !stack[top - 2] || stack[top - 3]) {
        snprintf(problem, room, "a pair has two halves: (not bad)");
        break;
      }
      stack[top - 3] = sentiment_Pair(m, stack[top - 2], stack[top - 1]);
      top -= 2;
      line++;
    } else {
      size_t length = strcspn(line, " \t\r\n()");
      if ((stack[top] = vector_of(m, line, length)))
        top++;
      else
        snprintf(problem, room, "there is no word \"%.*s\"", (int)(length < 60 ? length : 60), line);
      line += length;
    }
  }
  while (top)
    if (stack[--top]) sentiment_release(m, stack[top]);
  free(stack);
  return tree;
}

int main(void) {
  sentiment *m = sentiment_new();
  char *line = NULL, problem[200];
  size_t size = 0;
  int status = 0;
  while (m && getline(&line, &size, stdin) >= 0) {
    if (!line[strspn(line, " \t\r\n")]) continue;
    sentiment_value tree = tree_of(m, line, problem, sizeof problem), result = NULL;
    if (!tree || sentiment_run(m, tree, &result)) {
      printf("error: %s\n", tree ? sentiment_error(m) : problem);
      status = 1;
    } else {
      const float *likely = sentiment_data(result);
      int best = 0;
      for (int k = 1; k < MOODS; k++)
        if (likely[k] > likely[best]) best = k;
      printf("%s:", moods[best]);
      for (int k = 0; k < MOODS; k++) printf(" %.3f", likely[k]);
      printf("\n");
    }
    if (result) sentiment_release(m, result);
    if (tree) sentiment_release(m, tree);
  }
  if (m && sentiment_live(m)) printf("error: %d values were not released\n", (int)sentiment_live(m));
  free(line);
  sentiment_end(m);
  return status;
}
