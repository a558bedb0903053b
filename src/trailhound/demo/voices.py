"""Sentence and title patterns of the kinds of page.

Slots: ``<T>`` things, ``<P>`` process, ``<Q>`` quality, ``<S>`` setting, ``<A>`` activity,
``<N>`` small number, ``<Y>`` year, ``<H>`` a person, ``<L>`` a town.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Voice:
    """How one kind of page speaks."""

    topical: tuple[str, ...]
    """Sentences about the page's subject."""
    small_talk: tuple[str, ...]
    """Sentences that any page of the kind may hold."""
    titles: tuple[str, ...] = ()
    vague_titles: tuple[str, ...] = ()
    """Titles that do not name the subject."""


RESEARCH = Voice(
    topical=(
        "We measured <T> and <T> <S> over <N> seasons.",
        "<P> has long been described <S>, but its effect on <Q> <T> is poorly known.",
        "Our results show that <P> depends on <T> more than on <P>.",
        "Samples from <Q> <T> were compared with <T> from <N> other sites.",
        "The method combines <A> with <A>, which had not been tried <S>.",
        "A clear link between <P> and <P> was found in <N> out of <N> cases.",
        "Earlier work on <P> relied on <T>; here we use <Q> <T> instead.",
        "<Q> <T> responded within <N> days, whereas <T> did not change.",
        "These findings suggest that <P> can be improved by <A>.",
        "Without <A>, estimates of <P> are biased <S>.",
        "The model predicts <P> from <T>, <T> and the share of <Q> <T>.",
        "We discuss what this means for <P> and for people who work with <T>.",
        "<T> were collected <S> by <A> every <N> weeks.",
        "Differences in <P> were largest where <T> had been <Q>.",
        "A second experiment addressed <P> <S>.",
        "Taken together, <P> and <P> explain most of the variation in <T>.",
    ),
    small_talk=(
        "The work was carried out together with partners in <L> and <L>.",
        "Funding came from the national research council under grant <Y>-<N>.",
        "The authors thank <H> for comments on an earlier version.",
        "Data and scripts are available from the corresponding author.",
        "All measurements were repeated <N> times and averaged.",
        "Error bars give the standard deviation unless stated otherwise.",
        "A preliminary version was presented at the workshop in <L> in <Y>.",
        "The limits of the approach are discussed in the last section.",
        "Further studies with larger samples are needed to confirm this.",
        "Two reviewers helped to make the text clearer.",
        "The project ran from <Y> for <N> years and employed two assistants.",
        "Tables with the full results are given in the appendix.",
    ),
    titles=(
        "Effects of <P> on <T>",
        "<P> and <P> <S>",
        "<Q> <T> <S>",
        "<N> years of <P>",
        "Linking <P> to <T>",
        "<T> as indicators of <P>",
        "<P>: a review",
        "Improving <P> by <A>",
        "Modelling <P> with <T>",
        "On the role of <T> in <P>",
    ),
    vague_titles=(
        "Final report of the <L> project",
        "Notes from the <Y> field campaign",
        "A cautionary tale",
        "Methods and open questions",
        "Results of the second phase",
        "Lessons from <N> years of work",
        "Reply to <H>",
        "Towards a common protocol",
        "The <L> data set, <Y> edition",
    ),
)

CAMPUS = Voice(
    topical=(
        "The course introduces <P> and <P> with examples from practice.",
        "Students learn <A> and <A> in small groups.",
        "The group works on <P> and on <Q> <T>.",
        "A practical part deals with <T> and <T> <S>.",
        "Past projects looked at <P> <S>.",
        "The reading list covers <P>, <T> and <P>.",
    ),
    small_talk=(
        "The lecture takes place on Tuesday mornings in room <N>.",
        "Office hours are by appointment during the term.",
        "The department was founded in <Y> and moved to its present building later.",
        "Students register through the examination office before the end of the month.",
        "Assessment is by a written examination and <N> short exercises.",
        "Visitors reach the campus by tram or by bus from <L>.",
        "Our graduates work in industry, in schools and in public service.",
        "The seminar room holds <N> people; please arrive early.",
        "The secretary, <H>, answers questions about enrolment.",
        "Scholarships are awarded twice a year by a committee of teachers.",
        "The university belongs to a network of <N> partner institutions.",
        "The staff meeting minutes are kept in the dean's office.",
        "A guide for new students can be collected at the front desk.",
        "Doctoral candidates present their plans at the end of the first year.",
        "The library has extended its opening hours until the examinations.",
        "Maintenance of the teaching laboratories is planned for August.",
        "The open day attracts visitors from <L> and the whole region.",
        "Exchange students are asked to bring a letter from their home university.",
    ),
    titles=(
        "Introduction to <P>",
        "Topics in <P>",
        "Practical course: <A>",
        "Seminar on <T>",
        "Advanced <P>",
    ),
    vague_titles=("Research seminar", "Reading group", "Project week", "Methods course"),
)

BIOGRAPHY = Voice(
    topical=(
        "My research is about <P> and <P>.",
        "I am interested in <T>, in particular <S>.",
        "At present I spend most of my time <A>.",
        "Current project: <P> <S>.",
    ),
    small_talk=(
        "I joined the department in <Y> after <N> years in <L>.",
        "Before that I studied in <L> and taught at a school near <L>.",
        "I supervise bachelor and master theses; write to me if you look for a subject.",
        "My office is on floor <N>; the door is usually open in the afternoon.",
        "In my spare time I sing in the university choir and repair old bicycles.",
        "I serve on the library committee and on the editorial board of a small journal.",
        "I hold a doctorate from the university of <L>.",
        "Please use electronic mail rather than the telephone.",
        "My teaching this term is listed on the course pages.",
        "I edit the department's newsletter together with <H>.",
        "A short curriculum vitae is available on request.",
        "I enjoy long walks with the dog and slow trains to <L>.",
        "Letters of recommendation need two weeks, please.",
        "I have been an examiner for the state board since <Y>.",
    ),
)

HOBBY = Voice(
    topical=(
        "At the last meeting we talked about <P> and about <T>.",
        "If you are new to <A>, start with <T> and be patient.",
        "Many members ask how <P> changes <S>.",
        "<H> showed us <N> ways of <A>.",
        "Good <T> are the basis of <P>; poor ones spoil everything.",
        "We compared <T> and <T> <S>, with a surprising result.",
        "<P> is easier than it looks once you have tried <A>.",
        "Keep <Q> <T> apart from <T> and write down what you see.",
        "After <N> years of <A> I still learn something about <P> every season.",
        "Beware of <Q> <T>: they are a sign of bad <P>.",
        "The demonstration of <A> was the best part of the afternoon.",
        "Our test group followed <T> <S> from week to week.",
    ),
    small_talk=(
        "The next meeting takes place on the second Thursday at half past seven.",
        "Coffee and cake are provided; please bring your own cup.",
        "Membership costs <N> a year, half for pupils and pensioners.",
        "Many thanks to <H> for the photographs.",
        "The minutes of the annual meeting are available from the secretary.",
        "Car sharing from <L> can be arranged by telephone.",
        "The club house needs a new roof, and volunteers are welcome.",
        "Our library lends books to members for four weeks.",
        "We are planning an outing to <L> in early summer.",
        "The editor is always looking for contributions and letters.",
        "Children are welcome when accompanied by an adult.",
        "The treasurer reports a small surplus for <Y>.",
    ),
    titles=(
        "<A>: a beginner's guide",
        "My first year with <T>",
        "<P> explained",
        "What <T> tell us about <P>",
        "<N> tips for <A>",
        "<Q> <T> <S>",
        "Workshop report: <A>",
        "Getting <P> right",
    ),
    vague_titles=(
        "Report from the summer meeting",
        "Letters to the editor",
        "A visit to <L>",
        "What I got wrong last year",
        "News from the committee",
        "Thoughts on a rainy evening",
    ),
)

NEWS = Voice(
    topical=(
        "Interest in <P> has grown <S>, and <L> is no exception.",
        "'We see more <Q> <T> than ever,' said <H>, who has studied <P> for <N> years.",
        "The report names <T> and <T> among the main concerns.",
        "Critics say that <P> alone will not help <T> <S>.",
        "A new centre in <L> will teach <A> and advise the public on <P>.",
        "Volunteers have been <A> since <Y>.",
        "Experts expect that <P> will matter even more for <T>.",
        "The figures on <P> come from <N> towns and were published this week.",
        "Until now, <A> was left to a few specialists.",
        "Whether <Q> <T> can be saved depends on <P>, the authors write.",
    ),
    small_talk=(
        "The council will discuss the matter next month.",
        "A spokesman declined to comment on the costs.",
        "Residents of <L> had asked for a decision since <Y>.",
        "The meeting was attended by about <N> people.",
        "Our reporter <H> visited the site on Monday.",
        "The minister is expected in <L> at the end of the week.",
        "Readers can send their opinion to the editor.",
        "The programme is supported by a regional fund for another <N> years.",
        "Traffic around the station was disrupted for two hours.",
        "More details will be announced after the summer break.",
        "This article was updated to correct the name of a street.",
        "A public talk is planned for Thursday evening; admission is free.",
    ),
    titles=(
        "Why <P> matters to <L>",
        "<L> looks to <P>",
        "New money for <P>",
        "Study casts light on <T>",
        "<T> under pressure <S>",
        "A day spent <A>",
        "<H> on <P> and patience",
        "Concern about <T> grows",
    ),
    vague_titles=(
        "Quiet pioneers from <L>",
        "The long wait is over",
        "Small steps, big hopes",
        "A prize for <H>",
        "What we learned this week",
        "An afternoon in <L>",
    ),
)

FORUM = Voice(
    topical=(
        "Has anyone tried <A> <S>?",
        "I have had trouble with <T> since last month, and <P> did not help.",
        "In my experience <Q> <T> are normal <S>.",
        "Forget <T>; look at <P> first.",
        "I started <A> <N> weeks ago and now the <T> look <Q>.",
        "Thanks, <A> solved it, and the <T> are fine again.",
        "There is a good chapter on <P> in the old handbook.",
        "My neighbour swears by <A>, but I doubt that it works for <T>.",
        "Post a picture of the <T>, otherwise we can only guess about <P>.",
        "With <Q> <T> you should avoid <A> altogether.",
    ),
    small_talk=(
        "Sorry for the long post and for my English.",
        "Please use the search function before you open a new thread.",
        "Greetings from <L>!",
        "I agree with what <H> wrote above.",
        "Moved to the right board by the moderators.",
        "Same here, any news?",
        "Thanks for the quick answers, you are great.",
        "My account was locked for a week, so I could not reply.",
        "This has been discussed <N> times already.",
        "I will report back after the weekend.",
        "Can somebody delete my double post?",
        "Welcome to the forum, and have fun.",
    ),
    titles=(
        "Question about <T>",
        "<Q> <T>, what now?",
        "Best way of <A>?",
        "Trouble with <P>",
        "<P> <S>",
        "<T> or <T>?",
        "Tips for <A> wanted",
    ),
    vague_titles=(
        "Newbie needs advice",
        "Strange thing happened yesterday",
        "Any ideas?",
        "Help please",
        "What would you do?",
        "Picture of the day",
        "I give up",
    ),
)

SHOP = Voice(
    topical=(
        "Made for <A>, also suitable for <T>.",
        "Recommended by customers who care about <P>.",
        "Works well with <Q> <T> and <T>.",
        "The handy companion for <A> <S>.",
        "A must for <P>, tested on <T>.",
        "Sold in sets of <N> for <T>.",
    ),
    small_talk=(
        "Delivery takes two to four working days.",
        "Goods may be returned within thirty days in their original packing.",
        "The price includes tax; postage depends on weight.",
        "Ask our team by telephone if you are not sure about the size.",
        "Customers from <L> can collect orders from our store.",
        "Gift vouchers are valid for <N> years.",
        "This item is back in stock after a long break.",
        "Discounts start at <N> pieces.",
        "We accept all usual cards and payment on account.",
        "Rated four stars by <N> buyers.",
    ),
    titles=(
        "Starter kit: <A>",
        "Tools for <T>",
        "Set for <P>",
        "Handbook: <P>",
        "Accessories for <Q> <T>",
        "Deluxe box for <T>",
    ),
    vague_titles=("Gift voucher", "Bargain box", "Starter set, small", "Starter set, large"),
)

GUIDE = Voice(
    topical=HOBBY.topical + SHOP.topical[:2],
    small_talk=SHOP.small_talk,
    titles=("How to choose <T>", "Our guide to <P>", "<A> step by step", "<P>: what you need"),
    vague_titles=("Frequently asked questions", "Advice from our workshop"),
)
