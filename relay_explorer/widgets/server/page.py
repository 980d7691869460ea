"""The page of the local server."""

from __future__ import annotations

import json
from html import escape
from typing import Any

from ... import _project

_STYLE = """
:root{color-scheme:light dark;--line:#8885;--soft:#5c5c63;--paper:#fff;--accent:#1f4fa3}
@media(prefers-color-scheme:dark){:root{--soft:#a5a5ad;--paper:#18191b;--accent:#a9bfff}}
body{margin:0;background:var(--paper);font:15px/1.5 system-ui,sans-serif}
header{display:flex;flex-wrap:wrap;gap:6px 10px;align-items:center;padding:8px 12px;
border-bottom:1px solid var(--line)}
h1{font-size:16px;margin:0}
label{display:inline-flex;gap:5px;align-items:center;color:var(--soft)}
select,button,input,textarea{font:inherit;min-height:30px;max-width:100%;box-sizing:border-box}
select{max-width:min(22rem,80vw)}
button:disabled{opacity:.6}
#options{display:flex;flex-wrap:wrap;gap:6px 12px;align-items:center;padding:6px 12px;
border-bottom:1px solid var(--line)}
#options:empty{display:none}
#options input[type=text]{width:min(26rem,80vw)}
#status{min-height:1.6em;padding:4px 12px;color:var(--soft);display:flex;gap:10px;align-items:center}
#problem{margin:8px 12px;padding:10px 12px;border:1px solid #b3261e;border-radius:8px;overflow:auto;
white-space:pre-wrap;overflow-wrap:anywhere;font:13px/1.5 ui-monospace,monospace}
#welcome{margin:24px auto;max-width:46rem;padding:24px;border:2px dashed var(--line);border-radius:14px}
#welcome h2{margin:0 0 6px;font-size:18px}
#main{padding:0 12px 12px}
body.over::after{content:"Drop to open";position:fixed;inset:8px;display:grid;place-items:center;
border:3px dashed var(--accent);border-radius:14px;background:color-mix(in srgb,var(--paper) 80%,transparent);
font-size:24px;z-index:9}
[hidden]{display:none!important}
"""

_WELCOME = """\
<section id="welcome" aria-labelledby="how"><h2 id="how">Open a program or a model</h2>
<p>Drop files or a folder anywhere on this page, or use <em>open</em>: ONNX, TorchScript, exported PyTorch
programs (<code>.pt2</code>), TFLite, Keras, TensorFlow, MXNet, and programs in Relay's text format. TVM's
Relax modules cannot be opened yet.</p>
<p>A file that was named on the command line is shown again whenever it changes. A dropped file is a copy:
drop it again to see its next version. Nothing is sent anywhere, and the copies are deleted when the server
stops.</p></section>"""


def page(views: list[dict[str, Any]], suffixes: list[str]) -> str:
    """Return the page; `views` are offered in it, and of a dropped folder, files with these `suffixes`."""
    data = json.dumps(views).replace("<", "\\u003c")
    playground = _project.site_address("book/playground.html")
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<title>relay-explorer</title>\n<link rel="icon" href="data:,">\n'
        f"<style>{_STYLE}</style>\n</head>\n<body>\n"
        '<header><h1>relay-explorer</h1><label>file <select id="file"></select></label>'
        '<button id="open" type="button">open …</button>'
        '<label>view <select id="view"></select></label>'
        '<label>compare with <select id="against"></select></label></header>\n'
        '<section id="options" aria-label="options"></section>\n<main><div id="status" role="status"></div>'
        '<pre id="problem" role="alert" tabindex="0" hidden></pre>\n'
        f"{_WELCOME}\n"
        f'<div id="main" data-playground="{escape(playground)}" data-suffixes="{" ".join(suffixes)}"></div>'
        "</main>\n"
        f'<script type="application/json" id="views">{data}</script>\n'
        '<script type="module" src="server.js"></script>\n</body>\n</html>\n'
    )
