from __future__ import annotations

import numpy as np

from trailhound.models.adoption import MAX_ADOPTED, MAX_PER_HOST, Adoption, Find


def find(url: str, score: float, host: str = "h") -> Find:
    return Find(score, url, host, np.zeros(2, np.float32))


def urls(adopted: list[Find]) -> list[str]:
    return [each.url for each in adopted]


def test_nothing_is_adopted_before_the_interval_is_over() -> None:
    adoption = Adoption(interval=3)
    assert adoption.see(find("a", 0.9)) == []
    assert adoption.see(None) == []
    assert urls(adoption.see(find("c", 0.2))) == ["a"]


def test_only_the_strongest_tenth_joins() -> None:
    adoption = Adoption(interval=20)
    for n in range(19):
        adoption.see(find(f"p{n}", n / 100, f"host{n}"))
    assert urls(adoption.see(find("p19", 0.19, "host19"))) == ["p19", "p18"]


def test_one_host_cannot_take_over() -> None:
    adoption = Adoption(interval=10)
    for n in range(9):
        adoption.see(find(f"p{n}", 0.5))
    assert len(adoption.see(find("p9", 0.5))) == MAX_PER_HOST


def test_there_is_a_limit_to_all_adoption() -> None:
    adoption = Adoption(interval=1)
    adopted = [adoption.see(find(f"p{n}", 0.5, f"h{n}")) for n in range(200)]
    assert sum(map(len, adopted)) == MAX_ADOPTED


def test_without_finds_nobody_joins() -> None:
    assert Adoption(interval=1).see(None) == []
