"""Hooks that Codex holds back until its user trusts them."""

from __future__ import annotations

import json

import pytest

from firsthand.errors import FormatError
from firsthand.hosts.codex_trust import Held, held
from firsthand.hosts.host_table import host_program
from firsthand.hosts.registration import with_hooks

COMMAND = ["/usr/bin/python3", "-I", "-S", "-E", "/opt/firsthand/doors/hook_client.py", "codex"]
PATH = "/home/ada/.codex/hooks.json"
ONE = {"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": " ".join(COMMAND), "timeout": 5}]}]}}
# Made by Codex 0.169.0 itself (`hooks/list`, currentHash) for the hook above, and for it with a matcher and no timeout.
DIGEST = "sha256:b05f0111b6c5b99f4a1e3951f0011840172b98f97c00f39727f3ebd9eb46db7a"
DIGEST_MATCHED = "sha256:39e9d2d995ac622f44906ea3a1afe6c3afa75cc347ee3e9c72b5d7bdea2a3716"


def state(**digests: str) -> str:
    """Write what Codex keeps of hooks that were trusted, by event and place."""
    return "".join(
        f'[hooks.state."{PATH}:{name}"]\ntrusted_hash = "{digest}"\n'
        for name, digest in ((name.replace("__", ":"), digest) for name, digest in digests.items())
    )


def test_a_hook_that_nobody_trusted_is_held():
    """Without a configuration, and with one of other hooks, each of ours is told as untrusted, in order."""
    content = with_hooks("", host_program("codex"), COMMAND)
    events = tuple(line.event for line in host_program("codex").lines)
    assert held([PATH], content, "") == Held(untrusted=events)
    assert held([PATH], content, 'model = "x"\n[hooks.state."/other:stop:0:0"]\nenabled = true\n').untrusted == events


def test_the_digest_is_the_one_that_codex_makes():
    """A hook that was trusted as it is now is not held; one that was changed since, or switched off, is."""
    content = json.dumps(ONE)
    assert held([PATH], content, state(pre_tool_use__0__0=DIGEST)) == Held()
    assert held(["/link", PATH], content, state(pre_tool_use__0__0=DIGEST)) == Held()
    changed = json.dumps(ONE).replace('"timeout": 5', '"timeout": 6')
    assert held([PATH], changed, state(pre_tool_use__0__0=DIGEST)) == Held(changed=("PreToolUse",))
    off = state(pre_tool_use__0__0=DIGEST) + "enabled = false\n"
    assert held([PATH], content, off) == Held(off=("PreToolUse",))
    for seconds in ({}, {"timeout": 600}):
        hook = {"type": "command", "command": " ".join(COMMAND), **seconds}
        matched = {"hooks": {"PreToolUse": [{"hooks": []}, {"matcher": "Bash", "hooks": [hook]}]}}
        assert held([PATH], json.dumps(matched), state(pre_tool_use__1__0=DIGEST_MATCHED)) == Held()


def test_hooks_of_others_are_not_told():
    """Who else wants to be trusted is none of our business."""
    other = {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}], "Odd": "x"}}
    assert held([PATH], json.dumps(other), "") == Held()


@pytest.mark.parametrize("configuration", ["hooks = [", "[hooks.state\n"])
def test_a_configuration_that_is_no_toml_is_refused(configuration):
    """What cannot be read is not taken for a configuration without trust."""
    with pytest.raises(FormatError, match="expected Codex' configuration in TOML"):
        held([PATH], json.dumps(ONE), configuration)


@pytest.mark.parametrize("configuration", ["hooks = 3", "[hooks]\nstate = 4", f'[hooks]\nstate = {{"{PATH}:x" = 1}}'])
def test_a_configuration_of_another_shape_trusts_nothing(configuration):
    """Only what Codex writes there is a sign of trust."""
    assert held([PATH], json.dumps(ONE), configuration) == Held(untrusted=("PreToolUse",))
