"""Mails: readable ones as they are, encoded ones for reading, attachments apart."""

from __future__ import annotations

import email.message
import email.policy

import pytest
from host_suite import HostSuite
from readings import drafts, read, told

from firsthand.errors import SourceRejected
from firsthand.event import Kind, Trust
from firsthand.hosts import mail
from firsthand.hosts.mail import Mail, Mbox
from firsthand.hosts.transcript import Source
from firsthand.moment import parse

PLAIN = b"""From: Ada Example <ada@example.org>\r
To: bob@example.org,\r
 carol@example.org\r
Subject: the ports\r
Date: Mon, 05 Jan 2026 10:00:00 +0100\r
Message-ID: <1@example.org>\r
\r
We use 8080 \xc3\xa9.\r
"""
ENRON = b"Subject: vastar resources , inc .\r\ngary , production\r\n"
ENRON_PATH = "/x/enron1-ham/0002.1999-12-13.farmer.ham.txt"
MBOX = (
    b"From ada@example.org Mon Jan  5 10:00:00 2026\n"
    + PLAIN.replace(b"\r", b"")
    + b"From 10:00 on, and\n>From here on.\n\nFrom - Mon Jan  5 11:00:00 2026\n"
    b"From: bob@example.org\nSubject: Re: the ports\n\nThanks.\n\n"
)


def built(*, crlf: bool = False, **options) -> bytes:
    message = email.message.EmailMessage()
    message["From"] = "Äda <ada@example.org>"
    message["To"] = "bob@example.org"
    message["Subject"] = "Grüße, the ports"
    message["Date"] = "Mon, 05 Jan 2026 10:00:00 +0100"
    message.set_content("Wir nehmen 8080 € wie immer.\n", cte="base64")
    message.add_alternative("<p>8080</p>", subtype="html")
    message.add_attachment(bytes(range(200)), maintype="image", subtype="png", filename="plan é.png")
    message.add_attachment("a,b\n1,2\n", subtype="csv", filename="t.csv", cte="quoted-printable")
    return message.as_bytes(policy=email.policy.SMTP if crlf else email.policy.default)


def test_a_readable_mail_is_its_exact_bytes():
    """Headers and text as they are written, and the headers that matter in the meta."""
    (made,) = drafts(Mail(), "/x/inbox/1.eml", PLAIN)
    assert (made.kind, made.content, made.origin, made.trust) == (Kind.DOCUMENT, PLAIN, "mail", Trust.UNTRUSTED)
    assert (made.agent, made.time) == ("Ada Example <ada@example.org>", parse("2026-01-05T10:00:00+01:00"))
    assert made.meta == {
        "subject": "the ports", "from": "Ada Example <ada@example.org>", "to": "bob@example.org, carol@example.org",
        "date": "Mon, 05 Jan 2026 10:00:00 +0100", "message_id": "<1@example.org>",
    }  # fmt: skip


@pytest.mark.parametrize("crlf", [False, True])
def test_an_encoded_mail_is_given_for_reading_and_its_files_apart(crlf):
    """Encoded words and texts are decoded, plain text goes before HTML, files are their decoded bytes."""
    made = drafts(Mail(), "/x/inbox/1.eml", built(crlf=crlf))
    assert [(d.kind, d.media) for d in made] == [
        ("document", "text/plain"), ("attachment", "image/png"), ("attachment", "text/csv"),
    ]  # fmt: skip
    assert made[0].content.decode() == (
        "Subject: Grüße, the ports\nFrom: Äda <ada@example.org>\nTo: bob@example.org\n"
        "Date: Mon, 05 Jan 2026 10:00:00 +0100\n\nWir nehmen 8080 € wie immer.\n"
    )
    assert (made[0].meta["decoded"], made[0].meta["attachments"]) == (True, 2)
    assert (made[1].content, made[1].meta) == (bytes(range(200)), {"filename": "plan é.png"})
    assert made[2].content.replace(b"\r", b"") == b"a,b\n1,2\n"


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_an_encoded_subject_is_decoded_although_the_text_is_plain(end):
    """A subject in encoded words is found by its words."""
    data = end.join((b"From: a@b", b"To: c@d", b"Subject: =?utf-8?Q?Gr=C3=BC=C3=9Fe?=", b"", b"plain text", b""))
    (made,) = drafts(Mail(), "/x/1.eml", data)
    assert made.content.startswith("Subject: Grüße\nFrom: a@b\nTo: c@d\n\nplain text".encode())
    assert made.meta["subject"] == "Grüße"


def test_an_attachment_is_not_kept_a_second_time_in_the_envelope():
    """Base64 in lines of 76 signs is cut out of the source record."""
    data = bytes(number * 7 % 256 for number in range(50_000))
    message = email.message.EmailMessage()
    message["Subject"] = message["From"] = message["To"] = "x"
    message.set_content("see the file")
    message.add_attachment(data, maintype="image", subtype="png")
    for policy in (email.policy.default, email.policy.SMTP):
        made = drafts(Mail(), "/x/1.eml", message.as_bytes(policy=policy))
        assert made[1].content == data
        assert len(made[0].envelope) < 2_000


def test_what_the_enron_files_kept_is_a_mail_of_its_day():
    """Only a subject line and the text are left; the day is in the file's name."""
    (made,) = drafts(Mail(), ENRON_PATH, ENRON)
    assert (made.kind, made.content, made.time) == (Kind.DOCUMENT, ENRON, parse("1999-12-13"))
    assert made.meta == {
        "subject": "vastar resources , inc .", "date": "1999-12-13", "file": "0002.1999-12-13.farmer.ham.txt",
    }  # fmt: skip
    other = read(Mail(), ENRON_PATH.replace("0002", "0003"), ENRON)
    assert other[0].record.identity != read(Mail(), ENRON_PATH, ENRON)[0].record.identity


@pytest.mark.parametrize(
    ("path", "session"),
    [("/m/Inbox/cur/1:2,S", "Inbox"), ("/m/.Sent/new/1", ".Sent"), ("/x/mails/a.eml", "mails"), ("a.eml", "mail")],
)
def test_a_folder_is_a_session(path, session):
    """A Maildir's folder, or the folder of the file."""
    assert Mail().session(path, PLAIN) == session
    assert Mail().recognises(path, PLAIN)


def test_a_mail_moved_in_its_maildir_is_the_same_mail():
    """Read under another name, with another end of line at its end, it has the same identity."""
    first, second = (
        read(Mail(), path, data)[0].record for path, data in (("/m/new/1", PLAIN), ("/m/cur/1:2,S", PLAIN + b"\r\n"))
    )
    assert first.identity == second.identity


def test_an_mbox_is_split_at_its_lines_between():
    """Mails are cut at ``From`` lines after an empty line only; the lines between stay in the source records."""
    found = read(Mbox(), "/x/in.mbox", MBOX, size=11)
    assert [(r.line, r.torn) for r in found] == [(1, False), (13, False)]
    made = drafts(Mbox(), "/x/in.mbox", MBOX)
    assert [d.content for d in made] == [r.record.raw.split(b"\n", 1)[1] for r in found]
    assert [d.meta["subject"] for d in made] == ["the ports", "Re: the ports"]
    assert Mbox().session("/x/in.mbox", MBOX) == "in"


def test_the_last_mail_of_an_mbox_is_torn_until_an_empty_line_ends_it():
    """A mail that is being delivered is left; when no more will come it is taken as it is."""
    cut = MBOX[:-2]
    assert [r.torn for r in read(Mbox(), "in.mbox", cut)] == [False, True]
    assert [r.torn for r in read(Mbox(), "in.mbox", cut, final=True)] == [False, False]


def test_a_mail_over_the_limit_is_kept_in_pieces(monkeypatch):
    """In an mbox the limit cuts a mail in pieces with a fault and goes on behind it; a file of its own is refused."""
    monkeypatch.setattr(mail, "MAIL_BYTES_MAX", 300)
    big = MBOX.replace(b"We use", b"x" * 250 + b"\n" + b"y" * 250 + b"\nWe use")
    found = read(Mbox(), "in.mbox", big)
    assert ["kept in pieces" in r.record.fault for r in found[:-1]].count(True) >= 1
    assert told(found[-1].record.drafts) == [("document", found[-1].record.raw.split(b"\n", 1)[1])]
    with pytest.raises(SourceRejected, match="at most 300 bytes"):
        list(Mail().read([PLAIN * 2], Source("1.eml")))


@pytest.mark.parametrize(
    "data",
    [
        b"From: a\nTo: b\nSubject: =?utf-8?B?!!!?= =?nope?Q?=FF?=\nDate: never\n\n\xff\xfe",
        b"From: a\nTo: b\nContent-Type: text/plain; charset=klingon\nContent-Transfer-Encoding: base64\n\naGVsbG8=",
        b'From: a\nTo: b\nSubject: c\nContent-Type: multipart/mixed; boundary="x"\n\n--x\nno end',
        b"From: a\nTo: b\nSubject: c\nContent-Type: message/rfc822\n\nSubject: inner\n\nbody",
        b"From: a\nTo: b\nSubject:\nDate: Mon, 99 Jan 99999 99:99:99 +9999\n\n",
        b"From: a\nTo: b\nSubject: \xe9\n\n" + bytes(range(256)),
    ],
)
def test_a_hostile_mail_is_one_event_at_least_and_raises_nothing(data):
    """Whatever its headers say, a mail is kept, and its source record is exact."""
    (reading,) = read(Mail(), "/x/1.eml", data)
    assert reading.record.drafts[0].kind is Kind.DOCUMENT
    assert (reading.record.fault, reading.record.drafts[0].time) == ("", None)


@pytest.mark.parametrize(
    "data",
    [
        b"just words\nand more\n",
        b"a: 1\nb: 2\nc: 3\n",
        b"def f():\n    return 1\n",
        b"From: a\nTo: b\nSubject: c\nplain words\n",
        b"\n\n",
    ],
)
def test_what_is_no_mail_is_not_taken_for_one(data):
    """Text that only looks a little like headers is not recognised."""
    assert [Mail().recognises("/x/readme", data), Mbox().recognises("/x/readme", data)] == [False, False]


class TestMail(HostSuite):
    host, path, sample, session = Mail(), "/m/Inbox/cur/1:2,S", built(), "Inbox"


class TestMbox(HostSuite):
    host, path, sample, session = Mbox(), "/x/in.mbox", MBOX, "in"
