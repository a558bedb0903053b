from __future__ import annotations

from trailhound.models.adoption import MAX_ADOPTED, MAX_PER_HOST, Adoption


def test_nothing_is_adopted_before_the_interval_is_over() -> None:
    adoption = Adoption(interval=3)
    assert adoption.see("a", "h", 0.9, True) == []
    assert adoption.see("b", "h", 0.1, False) == []
    assert adoption.see("c", "h", 0.2, True) == ["a"]


def test_only_the_strongest_tenth_joins() -> None:
    adoption = Adoption(interval=20)
    for n in range(19):
        adoption.see(f"p{n}", f"host{n}", n / 100, True)
    assert adoption.see("p19", "host19", 0.19, True) == ["p19", "p18"]


def test_one_host_cannot_take_over() -> None:
    adoption = Adoption(interval=10)
    for n in range(9):
        adoption.see(f"p{n}", "same", 0.5, True)
    assert len(adoption.see("p9", "same", 0.5, True)) == MAX_PER_HOST


def test_there_is_a_limit_to_all_adoption() -> None:
    adoption = Adoption(interval=1)
    adopted = [adoption.see(f"p{n}", f"h{n}", 0.5, True) for n in range(200)]
    assert sum(map(len, adopted)) == MAX_ADOPTED


def test_irrelevant_pages_never_join() -> None:
    adoption = Adoption(interval=1)
    assert adoption.see("p", "h", 1.0, False) == []
