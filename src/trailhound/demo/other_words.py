"""The subjects that nobody looks for: most of the demo web is about them."""

from __future__ import annotations

from trailhound.demo.subjects import Subject, define

OTHERS: tuple[Subject, ...] = (
    define(
        "botany",
        "Botany",
        "gardening, bee-health",
        things="""seed banks, meadow plants, pollen grains, leaf traits, root systems,
            herbaria, orchids, flowering shrubs, moss carpets, field margins, plant colonies,
            nectar guides""",
        processes="""pollination, seed dispersal, leaf ageing, root growth, plant breeding,
            photosynthesis, flowering time, seed dormancy, meadow restoration, grafting""",
        qualities="perennial, flowering, shade-tolerant, native, alpine, invasive, annual, rare",
        settings="""in dry meadows, along hedgerows, in the botanic garden, on chalk grassland,
            under glass, after mowing""",
        activities="""pressing specimens, counting seedlings, mapping meadows, sowing trial plots,
            collecting seed""",
    ),
    define(
        "genetics",
        "Genetics",
        "pharmacy, statistics, botany",
        things="""gene variants, chromosomes, cell lines, sequencing reads, mutant strains, genome
            maps, family trees, protein domains, mouse models, regulatory regions, markers""",
        processes="""gene expression, genome assembly, inheritance, mutation, cell division,
            protein folding, selective breeding, linkage mapping, DNA repair, gene silencing""",
        qualities="heritable, dominant, sequenced, recessive, cloned, regulatory, rare, mutant",
        settings="""in cell cultures, across three generations, in the sequencing facility, near
            the centromere, in population samples, under selection""",
        activities="""sequencing samples, crossing strains, mapping markers, annotating genomes,
            growing cell lines""",
    ),
    define(
        "geology",
        "Geology",
        "glacier-hydrology, archaeology",
        things="""rock cores, fault zones, sediment layers, mineral veins, lava flows, fossils,
            seismic profiles, quarries, limestone caves, zircon ages, river terraces, drill
            sites""",
        processes="""erosion, mountain building, sediment dating, mineral growth, fault slip, rock
            weathering, basin modelling, volcanic activity, groundwater recharge, uplift""",
        qualities="volcanic, folded, porous, Jurassic, fractured, metamorphic, sandy, layered",
        settings="""along the fault line, in limestone quarries, on the northern shelf, at depth,
            in river terraces, beneath the basin""",
        activities="""logging cores, mapping outcrops, dating minerals, cutting thin sections,
            drilling test holes""",
    ),
    define(
        "meteorology",
        "Meteorology",
        "glacier-hydrology, bird-migration, statistics",
        things="""weather stations, storm tracks, rain gauges, radar images, cloud layers, wind
            profiles, heat waves, forecasts, pressure fronts, snow records, climate series""",
        processes="""cloud formation, storm forecasting, wind drift, seasonal rainfall, snow cover
            mapping, heat transport, climate modelling, fog formation, drought monitoring""",
        qualities="stormy, seasonal, humid, forecast, coastal, extreme, wet, long-term",
        settings="""over the coast, in the lower atmosphere, during the wet season, at mountain
            stations, after the storm, at dawn""",
        activities="""launching balloons, reading rain gauges, checking forecasts, calibrating
            radar, reconstructing storms""",
    ),
    define(
        "railways",
        "Railway engineering",
        "electric-cars, architecture",
        things="""signal boxes, track sections, level crossings, freight trains, bridges, rail
            joints, timetables, sleepers, tunnels, axle loads, overhead lines, stations""",
        processes="""track maintenance, signal control, rail wear, timetable planning, braking,
            bridge inspection, freight routing, noise reduction, ballast cleaning""",
        qualities="narrow-gauge, electrified, high-speed, single-track, welded, regional, disused",
        settings="""on the branch line, between two stations, under heavy traffic, at night, along
            the embankment, in the marshalling yard""",
        activities="""inspecting bridges, replacing sleepers, planning timetables, testing brakes,
            measuring rail wear""",
    ),
    define(
        "electric-cars",
        "Electric vehicles",
        "batteries, tidal-energy, railways",
        things="""charging stations, battery packs, electric motors, range tests, power modules,
            charge cycles, delivery vans, cooling plates, inverters, bus fleets, home chargers""",
        processes="""fast charging, motor control, range estimation, battery cooling, regenerative
            braking, fleet planning, grid integration, battery recycling, torque control""",
        qualities="battery-electric, hybrid, second-hand, fast-charging, urban, lightweight, quiet",
        settings="""in city traffic, at public chargers, on the test track, in winter conditions,
            on the motorway, under full load""",
        activities="""testing range, charging at home, cooling battery packs, planning fleets,
            measuring efficiency""",
    ),
    define(
        "pharmacy",
        "Pharmaceutical chemistry",
        "genetics, batteries, nutrition",
        things="""tablets, drug candidates, receptor sites, clinical samples, coatings, dosage
            forms, enzyme inhibitors, patient groups, polymer films, side effects, assays""",
        processes="""drug release, enzyme inhibition, synthesis planning, film coating, clinical
            testing, drug screening, solubility testing, dose finding, crystal growth""",
        qualities="soluble, slow-release, oral, clinical, crystalline, generic, antiviral, pure",
        settings="""in clinical trials, at body temperature, in the dissolution test, on the
            production line, in older patients, after oral intake""",
        activities="""screening compounds, coating tablets, measuring solubility, planning
            syntheses, monitoring patients""",
    ),
    define(
        "archaeology",
        "Archaeology",
        "manuscripts, geology, architecture",
        things="""burial mounds, pottery sherds, excavation trenches, coin hoards, stone tools,
            field surveys, Roman roads, post holes, museum finds, timber halls, amulets""",
        processes="""excavation, pottery dating, settlement survey, metal conservation, find
            recording, landscape archaeology, provenance research, site protection""",
        qualities="Roman, prehistoric, excavated, medieval, fragmentary, burnt, early, rural",
        settings="""in the river valley, below the plough soil, at the hill fort, in rescue
            excavations, beside the Roman road, in museum stores""",
        activities="""digging trial trenches, washing finds, drawing sherds, dating timbers,
            cataloguing coins""",
    ),
    define(
        "photography",
        "Photography",
        "bird-migration, manuscripts, tourism",
        things="""camera lenses, prints, black-and-white films, portraits, darkrooms, exhibitions,
            tripods, wildlife pictures, exposure settings, colour profiles, filters""",
        processes="""night photography, film development, portrait lighting, image editing, colour
            management, long exposure, macro photography, print making""",
        qualities="black-and-white, wide-angle, blurred, analogue, underexposed, framed, macro",
        settings="""at dusk, in the darkroom, under studio light, on film, in low light, at the
            annual exhibition""",
        activities="""developing film, framing prints, editing portraits, comparing lenses, waiting
            for the light""",
    ),
    define(
        "theatre",
        "Theatre and music",
        "violin-making, linguistics",
        things="""stage sets, rehearsals, string quartets, costumes, concert programmes, choirs,
            scripts, opera scores, instruments, premieres, masks, audiences""",
        processes="""stage design, voice training, music theory, rehearsal planning, directing,
            score reading, lighting design, ensemble playing, improvisation""",
        qualities="amateur, baroque, classical, experimental, choral, open-air, sold-out, modern",
        settings="""on the main stage, in the concert hall, before the premiere, behind the
            curtain, at the summer festival, in rehearsal""",
        activities="""rehearsing scenes, tuning instruments, painting sets, reading scores, selling
            tickets""",
    ),
    define(
        "nutrition",
        "Nutrition",
        "sourdough, pharmacy, cooking",
        things="""school meals, dietary surveys, vitamin levels, whole grains, food labels, protein
            sources, infant foods, blood samples, eating habits, salt targets, fibres""",
        processes="""iron absorption, sugar reduction, meal planning, digestion, weight control,
            vitamin uptake, dietary counselling, food labelling, gut health""",
        qualities="balanced, fortified, low-fat, wholegrain, vegetarian, daily, processed, healthy",
        settings="""in school canteens, among older adults, during pregnancy, in dietary surveys,
            after a meal, in hospital kitchens""",
        activities="""planning meals, recording diets, advising families, measuring blood sugar,
            reading labels""",
    ),
    define(
        "economics",
        "Economics",
        "law, statistics, tidal-energy",
        things="""labour markets, trade flows, household budgets, interest rates, tax reforms,
            price indices, small firms, pension funds, energy prices, supply chains, auctions""",
        processes="""price formation, wage bargaining, market regulation, public spending, economic
            growth, trade policy, inflation, risk sharing, urban development""",
        qualities="regional, competitive, informal, rising, public, rural, low-income, digital",
        settings="""in rural regions, after the tax reform, across member states, in the housing
            market, during the downturn, at firm level""",
        activities="""surveying households, estimating demand, comparing tax systems, forecasting
            growth, interviewing firms""",
    ),
    define(
        "law",
        "Law",
        "economics, linguistics",
        things="""court rulings, contracts, planning permits, data rights, appeals, statutes,
            tenancy agreements, witnesses, legal opinions, water rights, patents, charters""",
        processes="""contract interpretation, judicial review, mediation, consumer protection,
            constitutional reform, evidence gathering, licensing, environmental law""",
        qualities="statutory, binding, civil, constitutional, disputed, European, void, appellate",
        settings="""before the high court, under the new statute, in tenancy disputes, across
            borders, in planning cases, on appeal""",
        activities="""drafting contracts, hearing appeals, reviewing statutes, advising tenants,
            comparing rulings""",
    ),
    define(
        "software",
        "Software engineering",
        "statistics, batteries",
        things="""test suites, software modules, web services, code reviews, databases, bug
            reports, compilers, user interfaces, data streams, interfaces, libraries, backups""",
        processes="""regression testing, code generation, program analysis, load balancing, version
            control, type checking, data migration, fault injection, refactoring""",
        qualities="open-source, distributed, legacy, modular, untested, parallel, embedded, secure",
        settings="""in large code bases, under heavy load, at compile time, in open-source
            projects, after the release, on small devices""",
        activities="""writing tests, reviewing code, profiling services, fixing bugs, porting
            libraries""",
    ),
    define(
        "statistics",
        "Statistics",
        "economics, genetics, software",
        things="""random samples, regression models, survey weights, missing values, time series,
            priors, confidence intervals, outliers, data sets, experiments, estimators""",
        processes="""sampling, model selection, variable selection, forecasting, imputation,
            hypothesis testing, smoothing, causal inference, survey design""",
        qualities="Bayesian, robust, nonparametric, stratified, unbiased, sparse, latent, noisy",
        settings="""in small samples, under mild assumptions, for censored data, in official
            statistics, across repeated surveys, with many predictors""",
        activities="""fitting models, simulating data, weighting samples, plotting residuals,
            checking assumptions""",
    ),
    define(
        "astronomy",
        "Astronomy",
        "software, photography, meteorology",
        things="""variable stars, telescope mirrors, galaxy surveys, spectra, comets, light curves,
            radio sources, dust clouds, exoplanets, star clusters, night skies""",
        processes="""star formation, planet detection, mirror polishing, spectral analysis, orbit
            determination, sky mapping, stellar ageing, radio imaging""",
        qualities="faint, distant, binary, infrared, metal-poor, eclipsing, bright, transient",
        settings="""in the southern sky, at the mountain observatory, near the galactic plane,
            during the eclipse, in deep exposures, at radio wavelengths""",
        activities="""observing variables, reducing spectra, polishing mirrors, tracking comets,
            classifying galaxies""",
    ),
    define(
        "architecture",
        "Architecture",
        "railways, archaeology, economics",
        things="""timber frames, housing estates, facades, floor plans, roof trusses, town squares,
            brick walls, staircases, building permits, courtyards, competition entries""",
        processes="""urban planning, building renovation, heat insulation, daylight design, timber
            construction, cost estimation, monument protection, fire safety""",
        qualities="listed, modernist, energy-saving, wooden, dense, public, prefabricated, vacant",
        settings="""in the old town, on the harbour front, behind the facade, in listed buildings,
            along the ring road, on vacant plots""",
        activities="""drawing plans, insulating facades, surveying buildings, restoring staircases,
            judging competitions""",
    ),
    define(
        "linguistics",
        "Linguistics",
        "manuscripts, law, statistics",
        things="""dialects, vowel shifts, loan words, word orders, speech corpora, place names,
            grammars, bilingual children, manuscripts of sermons, verb forms, accents""",
        processes="""language change, word formation, dialect mapping, code switching, speech
            perception, translation, spelling reform, language learning""",
        qualities="bilingual, spoken, regional, archaic, endangered, formal, written, tonal",
        settings="""in border regions, among young speakers, in written records, across
            generations, in everyday speech, at school""",
        activities="""recording speakers, transcribing interviews, mapping dialects, tagging
            corpora, teaching grammar""",
    ),
    define(
        "acoustics",
        "Acoustics",
        "violin-making, railways, theatre",
        things="""loudspeakers, concert halls, sound waves, microphones, noise barriers, vibration
            modes, anechoic rooms, resonators, hearing tests, wooden plates""",
        processes="""noise control, room acoustics, modal analysis, sound insulation, vibration
            damping, speech intelligibility, loudness rating""",
        qualities="resonant, low-frequency, damped, anechoic, audible, reverberant, directional",
        settings="""in concert halls, at low frequencies, beside the motorway, in the anechoic
            room, near the ceiling, under free vibration""",
        activities="""measuring noise, tuning rooms, damping vibrations, recording impulses,
            testing hearing""",
    ),
    define(
        "football",
        "Football",
        "chess, tourism",
        things="""league matches, goalkeepers, training sessions, away games, cup ties, penalties,
            season tickets, youth teams, referees, fans, transfers, friendlies""",
        processes="""match preparation, youth coaching, pitch maintenance, relegation, injury
            recovery, ticket sales, squad rotation, counter-attacking""",
        qualities="unbeaten, injured, home, young, exhausted, promoted, defensive, wet",
        settings="""at the home ground, in extra time, before the derby, on a wet pitch, in the
            second half, after the winter break""",
        activities="""training twice a week, scoring late, watching replays, travelling to away
            games, coaching juniors""",
    ),
    define(
        "tourism",
        "Travel",
        "glacier-hydrology, bird-migration, photography",
        things="""hiking trails, guest houses, boat trips, mountain huts, beaches, cycle routes,
            city walks, ferry times, picnic sites, viewpoints, glacier walks, museums""",
        processes="""trip planning, trail marking, hotel booking, off-season travel, bird watching,
            island hopping, mountain guiding, rail travel""",
        qualities="scenic, family-friendly, quiet, coastal, guided, hidden, affordable, steep",
        settings="""along the coast path, in the high season, near the harbour, up in the
            mountains, on the island, off the beaten track""",
        activities="""hiking the ridge, booking rooms, taking the ferry, visiting museums, cycling
            along the river""",
    ),
    define(
        "gardening",
        "Gardening",
        "botany, bee-health, cooking",
        things="""raised beds, rose bushes, compost heaps, tomato plants, fruit trees, slugs,
            greenhouses, hedges, seedlings, herb borders, bee-friendly flowers, garden sheds""",
        processes="""composting, pruning, winter protection, pest control, soil improvement,
            sowing, watering, crop rotation, wood seasoning""",
        qualities="frost-hardy, organic, overgrown, sunny, fragrant, potted, bee-friendly, sandy",
        settings="""in the kitchen garden, before the last frost, in heavy clay, along the fence,
            under the apple tree, in spring""",
        activities="pruning roses, turning compost, sowing beans, picking slugs, digging borders",
    ),
    define(
        "cooking",
        "Cooking",
        "sourdough, nutrition, gardening",
        things="""soups, roasting tins, spice mixtures, cast-iron pans, pickles, cakes, honey
            glazes, stews, pasta doughs, kitchen knives, jams, pies, salads""",
        processes="""slow cooking, roasting, pickling, knife sharpening, menu planning, baking, jam
            making, seasoning, fermenting vegetables""",
        qualities="crispy, slow-cooked, seasonal, home-made, spicy, sweet, roasted, creamy",
        settings="""in a hot oven, on low heat, for eight guests, in the farmhouse kitchen, on a
            rainy Sunday, with fresh herbs""",
        activities="""kneading dough, chopping onions, tasting stews, preserving fruit, setting the
            table""",
    ),
    define(
        "chess",
        "Chess",
        "statistics, football",
        things="""endgames, opening lines, blitz games, rating lists, team matches, pawn chains,
            sacrifices, chess clocks, tournaments, study books, rooks, puzzles""",
        processes="""opening preparation, endgame technique, time control, pairing, blunder
            checking, tactical training, adjournment, rating calculation""",
        qualities="sharp, drawn, positional, rapid, unsound, classical, winning, isolated",
        settings="""in time trouble, on the queenside, after castling, at the club evening, in the
            last round, with black""",
        activities="""solving puzzles, analysing endgames, playing blitz, annotating games, pairing
            rounds""",
    ),
    define(
        "town-affairs",
        "Town affairs",
        "law, architecture, economics",
        things="""council meetings, parking fees, bus routes, playgrounds, road works, market
            stalls, recycling bins, school places, street lamps, budgets, bridges, allotments""",
        processes="""road repair, waste collection, school planning, snow clearing, housing policy,
            flood protection, street lighting, budget planning""",
        qualities="local, municipal, overdue, narrow, crowded, controversial, new, public",
        settings="""in the town hall, on Market Street, near the school, in the northern district,
            before the election, at the public hearing""",
        activities="""repairing roads, clearing snow, hearing residents, planting trees, counting
            votes""",
    ),
)
