"""Draw docs/two-sessions.svg: an agent that forgot, and one that did not: ``python tools/make_picture.py``.

What the user and the agent say is made up; what the command prints, and what Firsthand puts before the second session,
is recorded here and now, in a store of its own. The picture moves by CSS, and stands still for whoever wants that.
"""

from __future__ import annotations

import html
import tempfile
import textwrap
from pathlib import Path

from firsthand import Memory
from firsthand.cli import demo
from firsthand.cli.output import Output

PICTURE = Path(__file__).resolve().parents[1] / "docs" / "two-sessions.svg"
WIDTH, PADDING, LINE, SIGN, FONT = 940, 14, 18, 7.25, 12
AGAIN = "Deploy the broker."
STEP_S = 0.55
STYLE = f"""
text {{ font: {FONT}px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; white-space: pre; }}
.pane {{ fill: #161b22; stroke: #30363d; }}
.title {{ fill: #8b949e; }} .user {{ fill: #e6edf3; }} .agent {{ fill: #79c0ff; }} .out {{ fill: #8b949e; }}
.bad {{ fill: #ff7b72; }} .memory {{ fill: #7ee787; }}
.line {{ opacity: 0; animation: show .3s ease-out forwards; }}
@keyframes show {{ to {{ opacity: 1; }} }}
@media (prefers-reduced-motion: reduce) {{ .line {{ opacity: 1; animation: none; }} }}
"""

Line = tuple[str, str]  # a class of the style, and the text


def record() -> tuple[list[Line], list[Line], list[Line]]:
    """Give what is seen of the first session, and of the second without and with a memory."""
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder) / "broker"
        project.mkdir()
        with Memory(Path(folder) / "store", embedder="none") as memory:
            story = demo.Story(Output(as_json=True))
            printed, _ = demo.record(memory, project, story)
            preamble = demo.hook_text(memory, project, "SessionStart", source="startup").splitlines()
            reminder = demo.hook_text(memory, project, "UserPromptSubmit", prompt=demo.ASKED_LATER).splitlines()
            assert not story.failures, story.failures
    error = ("bad", f"  {printed.decode().splitlines()[-1]}")
    work: list[Line] = [("agent", "● python deploy.py"), ("out", f"  {printed.decode().splitlines()[0]}"), error]
    failed = next(line for line in preamble if line.startswith("- failed"))
    said = next(line for line in reminder if line.startswith("- user"))
    first = [("user", f"> {demo.ASKED}"), *work, ("agent", f"● {demo.ANSWERED}")]
    forgot = [("user", f"> {AGAIN}"), *work, ("user", f"> {demo.ASKED_LATER}"),
              ("agent", "● I find no address here. At which one does it listen?")]  # fmt: skip
    knew = [
        ("memory", "firsthand, before the first message:"), ("memory", failed), ("user", f"> {AGAIN}"),
        ("agent", "● On Monday its certificate had expired. Is it renewed?"), ("user", f"> {demo.ASKED_LATER}"),
        ("memory", "firsthand, with the message:"), ("memory", said),
        ("agent", "● At amqps://broker-7.internal:48213; the limit is 7."),
    ]  # fmt: skip
    return first, forgot, knew


def wrapped(lines: list[Line], columns: int) -> list[Line]:
    """Break lines at a width; what goes on is set in."""
    return [
        (kind, piece)
        for kind, text in lines
        for piece in textwrap.wrap(text, columns, subsequent_indent="  ", break_on_hyphens=False)
    ]


def pane(title: str, lines: list[Line], x: int, y: int, width: int, rows: int, begin: float) -> str:
    """Draw one terminal whose lines come one after the other."""
    out = [
        f'<rect class="pane" x="{x}" y="{y}" width="{width}" height="{(rows + 1) * LINE + 2 * PADDING}" rx="6"/>',
        f'<text class="title" x="{x + PADDING}" y="{y + PADDING + FONT}">{html.escape(title)}</text>',
    ]
    for row, (kind, text) in enumerate(lines, 1):
        out.append(
            f'<text class="line {kind}" style="animation-delay:{begin + row * STEP_S:.2f}s" x="{x + PADDING}" '
            f'y="{y + PADDING + FONT + row * LINE}">{html.escape(text)}</text>'
        )
    return "\n".join(out)


def picture() -> str:
    """Draw the first session above, and below it the second one twice."""
    first, forgot, knew = record()
    half = (WIDTH - PADDING) // 2
    first = wrapped(first, int((WIDTH - 2 * PADDING) / SIGN))
    forgot, knew = (wrapped(lines, int((half - 2 * PADDING) / SIGN)) for lines in (forgot, knew))
    above, rows = (len(first) + 1) * LINE + 3 * PADDING, max(len(forgot), len(knew))
    height, begin = above + (rows + 1) * LINE + 2 * PADDING, len(first) * STEP_S
    body = [
        pane("Monday", first, 0, 0, WIDTH, len(first), 0),
        pane("Tuesday: an agent that forgot", forgot, 0, above, half, rows, begin),
        pane("Tuesday: an agent with Firsthand", knew, half + PADDING, above, half, rows, begin),
    ]
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-1 -1 {WIDTH + 2} {height + 2}" role="img">',
        "<title>An agent that forgot, and one that did not</title>",
        ("<desc>A deploy fails on Monday. On Tuesday one agent runs it again and asks for the address; the other was "
        "told by Firsthand what failed and where the broker listens.</desc>"),
        f"<style>{STYLE}</style>", *body, "</svg>", "",
    ])  # fmt: skip


if __name__ == "__main__":
    PICTURE.write_text(picture(), encoding="utf-8")
