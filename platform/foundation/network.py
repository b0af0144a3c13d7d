"""Checks of IP addresses to which people other than the operator make the server connect."""

import ipaddress

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

# Cloud metadata services, which give a machine its keys; some of their addresses look ordinary.
_METADATA = frozenset(
    ipaddress.ip_address(text)
    for text in ("168.63.129.16", "100.100.100.200", "192.0.0.192", "fd00:ec2::254", "fd20:ce::254")
)
_SHARED = ipaddress.ip_network("100.64.0.0/10")  # of carriers and overlay networks; not private for Python
_SITE_LOCAL = ipaddress.ip_network("fec0::/10")  # deprecated; global according to Python
_NAT64 = ipaddress.ip_network("64:ff9b::/96")
_LOCAL_NAT64 = ipaddress.ip_network("64:ff9b:1::/48")
_COMPATIBLE = ipaddress.ip_network("::/96")
_TRANSLATED = ipaddress.ip_network("::ffff:0:0:0/96")
_ISATAP = (0x00005EFE, 0x02005EFE)  # third quarter of an ISATAP address


def is_dangerous(address: Address) -> bool:
    """Return whether an address must never be used: metadata services, link-local, multicast, reserved, unspecified."""
    return any(map(_dangerous, (address, *embedded_addresses(address))))


def is_public(address: Address) -> bool:
    """Return whether an address and all addresses embedded in it are public."""
    embedded = embedded_addresses(address)
    if is_dangerous(address) or not all(map(_public, embedded)):
        return False
    # An address that represents an IPv4 address leads to it.
    return (bool(embedded) and _stands_for_ipv4(address)) or _public(address)


def embedded_addresses(address: Address) -> tuple[ipaddress.IPv4Address, ...]:
    """Return the IPv4 addresses embedded in an IPv6 address, to which a gateway may lead."""
    if isinstance(address, ipaddress.IPv4Address):
        return ()
    number = int(address)
    low_bits = ipaddress.IPv4Address(number & 0xFFFFFFFF)
    if address.ipv4_mapped is not None:
        return (address.ipv4_mapped,)
    if address.sixtofour is not None:
        return (address.sixtofour,)
    if address.teredo is not None:
        return address.teredo
    if address in _NAT64 or address in _TRANSLATED:
        return (low_bits,)
    if address in _LOCAL_NAT64:
        # The length of the prefix is chosen by the operator of the network (RFC 6052, section 2.2).
        return (low_bits, _rfc6052(number, 48), _rfc6052(number, 56), _rfc6052(number, 64))
    if address in _COMPATIBLE and number > 1:
        return (low_bits,)
    return (low_bits,) if (number >> 32) & 0xFFFFFFFF in _ISATAP else ()


def _rfc6052(number: int, prefix: int) -> ipaddress.IPv4Address:
    """Return the 32 bits after a prefix, leaving out bits 64 to 71, which are always zero."""
    before = 64 - prefix
    after = 32 - before
    high = (number >> 64) & ((1 << before) - 1)
    low = (number >> (56 - after)) & ((1 << after) - 1)
    return ipaddress.IPv4Address(high << after | low)


def _stands_for_ipv4(address: Address) -> bool:
    return isinstance(address, ipaddress.IPv6Address) and (
        address.ipv4_mapped is not None or address.sixtofour is not None or address in _NAT64
    )


def _dangerous(address: Address) -> bool:
    if address in _METADATA or address.is_link_local or address.is_multicast or address.is_unspecified:
        return True
    return isinstance(address, ipaddress.IPv4Address) and address.is_reserved


def _public(address: Address) -> bool:
    if address in _SHARED or address in _SITE_LOCAL or address in _COMPATIBLE or address in _TRANSLATED:
        return False
    return address.is_global and not address.is_private and not address.is_loopback
