from __future__ import annotations

from ipaddress import IPv4Address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trailhound.errors import ConfigError
from trailhound.fetching.address_guard import AddressGuard, AddressRefusedError, why_not_public

PUBLIC = [
    "1.1.1.1",
    "93.184.216.34",
    "100.63.255.255",
    "100.128.0.0",
    "172.15.255.255",
    "172.32.0.0",
    "192.0.1.0",
    "198.17.255.255",
    "198.20.0.0",
    "223.255.255.255",
    "2606:4700::1111",
    "2a00:1450:4001:82b::200e",
    "::ffff:1.1.1.1",
    "64:ff9b::101:101",
    "2002:101:101::1",
]


@pytest.mark.parametrize("address", PUBLIC)
def test_public_addresses_are_permitted(address: str) -> None:
    assert AddressGuard().refusal("example.org", address) is None


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("127.0.0.1", "loopback"),
        ("127.255.255.255", "loopback"),
        ("10.255.0.1", "private"),
        ("172.31.255.255", "private"),
        ("192.168.0.0", "private"),
        ("169.254.169.254", "link-local"),
        ("100.64.0.0", "carrier"),
        ("100.127.255.255", "carrier"),
        ("0.0.0.0", "unspecified"),
        ("224.0.0.1", "multicast"),
        ("255.255.255.255", "reserved"),
        ("198.19.255.255", "benchmarks"),
        ("203.0.113.7", "documentation"),
        ("168.63.129.16", "metadata"),
        ("::", "unspecified"),
        ("::1", "loopback"),
        ("fe80::1%eth0", "link-local"),
        ("fd00:ec2::254", "private"),
        ("ff02::1", "multicast"),
        ("::ffff:10.0.0.1", "mapped from 10.0.0.1"),
        ("2002:a00:1::", "6to4 form of 10.0.0.1"),
        ("64:ff9b::a00:1", "NAT64 form of 10.0.0.1"),
        ("64:ff9b:1::", "translation"),
        ("2001:0:a00:1::", "Teredo form of 10.0.0.1"),
        ("2001:0:101:101:0:0:f5ff:fffe", "Teredo form of 10.0.0.1"),
        ("2606:4700::200:5efe:a00:1", "ISATAP form of 10.0.0.1"),
        ("::1.1.1.1", "reserved"),
        ("4000::1", "reserved"),
        ("", "not an IP address"),
        ("example.org", "not an IP address"),
    ],
)
def test_other_addresses_are_refused_with_a_reason(address: str, reason: str) -> None:
    refusal = AddressGuard().refusal("example.org", address)
    assert refusal is not None
    assert reason in refusal
    assert "example.org" in refusal


@given(st.integers(0, 2**32 - 1))
def test_an_embedded_address_is_judged_like_itself(number: int) -> None:
    plain = why_not_public(str(IPv4Address(number))) is None
    high, low = divmod(number, 65536)
    for form in [
        f"::ffff:{high:x}:{low:x}",
        f"64:ff9b::{high:x}:{low:x}",
        f"2002:{high:x}:{low:x}::1",
    ]:
        assert (why_not_public(form) is None) is plain


@pytest.mark.parametrize(
    ("allow", "host", "address", "permitted"),
    [
        ("127.0.0.0/8", "anything.example", "127.3.2.1", True),
        ("127.0.0.0/8", "anything.example", "::ffff:127.0.0.1", True),
        ("127.0.0.0/8", "anything.example", "10.0.0.1", False),
        ("10.0.0.7", "x", "10.0.0.7", True),
        ("10.0.0.7", "x", "10.0.0.8", False),
        ("::1", "x", "::1", True),
        ("[::1]", "x", "::1", True),
        ("fd00::/8", "x", "fd12::1", True),
        ("127.1", "x", "127.0.0.1", True),
        ("intranet.example", "intranet.example", "10.0.0.1", True),
        ("intranet.example", "INTRANET.example.", "10.0.0.1", True),
        ("intranet.example", "www.intranet.example", "10.0.0.1", False),
        ("*.demo.test", "www.demo.test", "127.0.0.1", True),
        ("*.demo.test", "a.b.demo.test", "127.0.0.1", True),
        ("*.demo.test", "demo.test", "127.0.0.1", False),
        ("*.demo.test", "evildemo.test", "127.0.0.1", False),
        ("*.Demo.Test", "x.demo.test", "127.0.0.1", True),
        ("bücher.example", "xn--bcher-kva.example", "10.0.0.1", True),
    ],
)
def test_names_and_networks_can_be_allowed(
    allow: str, host: str, address: str, permitted: bool
) -> None:
    assert (AddressGuard([allow]).refusal(host, address) is None) is permitted


@pytest.mark.parametrize("entry", ["", "*", "*.", "a b", "http://x/", "x/y", "*.10.0.0.1", "x:80"])
def test_what_cannot_be_meant_is_refused(entry: str) -> None:
    with pytest.raises(ConfigError, match="Cannot allow the address"):
        AddressGuard([entry])


def test_check_raises_an_os_error() -> None:
    with pytest.raises(AddressRefusedError, match=r"127\.0\.0\.1 is loopback"):
        AddressGuard().check("127.0.0.1", "127.0.0.1")
