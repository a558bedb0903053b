"""The subjects that are topics: what a person looks for in the demo web.

Several words are shared on purpose (colonies, cells, flow, varnish, migration, cultures): lexical
similarity to the targets is a noisy guide.
"""

from __future__ import annotations

from trailhound.demo.subjects import Subject, define

TOPICS: tuple[Subject, ...] = (
    define(
        "bee-health",
        "Honey-bee health",
        "bird-migration, botany, gardening, sourdough",
        things="""varroa mites, honey-bee colonies, brood frames, queen cells, worker bees, drones,
            hive entrances, bee viruses, nosema spores, foulbrood samples, sticky boards, nectar
            stores, pollen traps, hive records, oxalic acid treatments, swarms, honey combs,
            foragers, nurse bees, apiaries""",
        processes="""varroa control, colony loss, winter feeding, hygienic behaviour, brood
            disease, queen rearing, mite resistance, pesticide exposure, nectar flow, swarm
            prevention, hive inspection, pollen nutrition, drone brood removal, colony collapse,
            bee breeding, overwintering""",
        qualities="""overwintered, hygienic, infested, weakened, mite-tolerant, queenless, managed,
            untreated, capped, bee-friendly""",
        settings="""in managed hives, along flowering field margins, during the spring build-up,
            after a mild winter, in mountain apiaries, beside oilseed rape, before the honey
            harvest, inside the brood nest""",
        activities="""counting fallen mites, inspecting brood, feeding sugar syrup, marking queens,
            sampling pollen, weighing hives, treating colonies, recording colony strength""",
    ),
    define(
        "bird-migration",
        "Bird migration",
        "bee-health, meteorology, tourism, photography",
        things="""passerines, ringing stations, stopover sites, satellite tags, flyways, warblers,
            breeding colonies, wing feathers, fat reserves, night flights, geolocators, waders,
            mist nets, radar tracks, juveniles, wintering grounds, flocks, ringed birds, swallows,
            moult patterns""",
        processes="""spring migration, autumn passage, bird ringing, stopover behaviour,
            orientation, flock formation, habitat loss, wing moult, nocturnal flight, site
            fidelity, departure timing, breeding success, tag recovery, wind drift, range shift,
            refuelling""",
        qualities="""long-distance, migratory, ringed, nocturnal, juvenile, tagged, exhausted,
            coastal, early-arriving, partial""",
        settings="""along the western flyway, at coastal stopover sites, across the inland sea,
            during autumn passage, over the mountain passes, in reed beds at dawn, on offshore
            islands, before the first frost""",
        activities="""ringing warblers, reading colour rings, setting mist nets, counting waders,
            following tagged birds, measuring wing length, scanning radar images, logging arrival
            dates""",
    ),
    define(
        "glacier-hydrology",
        "Glacier hydrology",
        "tidal-energy, meteorology, geology, tourism",
        things="""moulins, meltwater channels, glacier tongues, dye tracers, proglacial lakes, ice
            cores, ablation stakes, stream gauges, crevasses, snow pits, sediment loads, outburst
            floods, subglacial cavities, mass balance records, moraines, ice cliffs, debris layers,
            flow models, borehole sensors, catchments""",
        processes="""meltwater drainage, basal sliding, mass balance, ice melt, snow accumulation,
            runoff modelling, glacier retreat, subglacial flow, sediment transport, surface
            ablation, firn storage, water pressure, outburst flooding, ice thickness sounding, dye
            tracing, peak flow""",
        qualities="""subglacial, debris-covered, retreating, temperate, seasonal, glacier-fed,
            stagnant, crevassed, pressurised, snow-covered""",
        settings="""beneath the glacier tongue, in high alpine catchments, during the melt season,
            above the equilibrium line, at the glacier snout, in proglacial streams, after heavy
            snowfall, under thick debris""",
        activities="""drilling boreholes, tracing dye, reading ablation stakes, gauging meltwater
            streams, mapping crevasses, digging snow pits, modelling runoff, surveying ice
            thickness""",
    ),
    define(
        "tidal-energy",
        "Tidal energy",
        "glacier-hydrology, batteries, electric-cars, economics",
        things="""tidal turbines, rotor blades, tidal streams, seabed moorings, flow sensors, tidal
            barrages, array layouts, power cables, biofouled surfaces, wake models, lagoons,
            gearboxes, support structures, sea trials, turbine hubs, acoustic profilers, grid
            connections, load cycles, estuaries, foundations""",
        processes="""tidal power generation, wake interaction, blade fatigue, array optimisation,
            seabed scour, power smoothing, turbine maintenance, flow measurement, grid integration,
            cavitation, corrosion protection, yield assessment, energy storage, mooring design,
            tidal range forecasting, marine consenting""",
        qualities="""bidirectional, floating, bottom-mounted, ducted, horizontal-axis,
            grid-connected, submerged, full-scale, corrosion-resistant, peak-flow""",
        settings="""in fast tidal channels, at the estuary mouth, during spring tides, behind the
            barrage, on the seabed, in open-water trials, under turbulent flow, at slack water""",
        activities="""measuring flow speed, testing rotor blades, modelling wakes, laying power
            cables, inspecting moorings, forecasting tidal yield, scaling turbines, logging load
            cycles""",
    ),
    define(
        "batteries",
        "Solid-state batteries",
        "tidal-energy, electric-cars, pharmacy, software",
        things="""solid electrolytes, lithium anodes, sulfide electrolytes, cathode particles, cell
            stacks, dendrites, interfaces, impedance spectra, coin cells, ceramic separators, grain
            boundaries, polymer films, charge cycles, pouch cells, ion channels, garnet oxides,
            cathode coatings, pressure rigs, dry rooms, thin films""",
        processes="""ion transport, dendrite growth, interface stability, fast charging, cell
            ageing, electrolyte sintering, lithium plating, capacity fade, stack pressure, ion
            migration, cathode coating, impedance analysis, thermal runaway, anode-free design, dry
            processing, cell assembly""",
        qualities="""solid-state, lithium-rich, garnet-type, ion-conducting, anode-free, ceramic,
            sulfide-based, high-voltage, air-sensitive, cycled""",
        settings="""at the anode interface, under stack pressure, at room temperature, during fast
            charging, in full pouch cells, after a thousand cycles, along grain boundaries, in a
            dry room""",
        activities="""sintering pellets, cycling cells, coating cathodes, measuring impedance,
            assembling pouch cells, imaging dendrites, milling electrolytes, testing separators""",
    ),
    define(
        "manuscripts",
        "Medieval manuscript conservation",
        "violin-making, archaeology, photography, linguistics",
        things="""parchment leaves, illuminated initials, iron-gall inks, book bindings, pigments,
            quires, flaking paint layers, monastic libraries, scribal hands, wooden boards,
            palimpsests, marginal drawings, gilded miniatures, sewing structures, charters,
            psalters, mould stains, digital facsimiles, leather covers, codices""",
        processes="""parchment conservation, ink corrosion, pigment analysis, binding repair,
            multispectral imaging, provenance research, manuscript digitisation, paint
            consolidation, humidity control, palaeographic dating, leaf casting, mould treatment,
            collation, leather ageing, gilding, cataloguing""",
        qualities="""illuminated, parchment, twelfth-century, water-damaged, gilded, monastic,
            rebound, faded, iron-gall, fragmentary""",
        settings="""in the cathedral library, on parchment leaves, under ultraviolet light, in the
            conservation studio, along the gutter margin, inside the binding, in the scriptorium,
            at stable humidity""",
        activities="""consolidating flaking paint, imaging palimpsests, dating scribal hands,
            repairing bindings, identifying pigments, flattening parchment, collating quires,
            cataloguing charters""",
    ),
    define(
        "violin-making",
        "Violin making",
        "manuscripts, theatre, gardening, acoustics",
        things="""spruce plates, maple backs, varnish layers, sound posts, bass bars, bridges,
            scroll templates, tone woods, f-holes, purfling channels, hide glues, arching profiles,
            fingerboards, gouges, tap tones, violas, cello moulds, thumb planes, workshop drawings,
            old Italian violins""",
        processes="""plate tuning, varnish ageing, wood seasoning, graduation, bridge cutting, neck
            setting, sound-post adjustment, purfling, arching design, tone-wood selection, crack
            repair, modal analysis, ground preparation, retouching, rib bending, scroll carving""",
        qualities="""quarter-sawn, hand-carved, varnished, air-dried, well-seasoned, baroque,
            resonant, spirit-varnished, thin-plated, restored""",
        settings="""in the violin workshop, on the spruce top, under the bridge, along the centre
            joint, after ten years of seasoning, inside the corpus, on old Italian instruments, at
            the bending iron""",
        activities="""carving scrolls, bending ribs, tuning plates, cutting bridges, cooking
            varnish, fitting sound posts, tapping plates, sharpening gouges""",
    ),
    define(
        "sourdough",
        "Sourdough fermentation",
        "bee-health, cooking, nutrition, pharmacy",
        things="""sourdough starters, lactic acid bacteria, wild yeasts, rye flours, dough
            cultures, loaves, gluten strands, leavens, fermentation vessels, enzyme extracts, crumb
            samples, acid profiles, wholemeal flours, oven tests, aroma compounds, bran fractions,
            backslopping cycles, proofing baskets, grain varieties, phytates""",
        processes="""dough fermentation, starter maintenance, acidification, gluten breakdown,
            yeast growth, backslopping, crumb formation, flavour development, cold proofing, starch
            retrogradation, culture isolation, enzyme activity, bread staling, phytate reduction,
            leavening, culture drying""",
        qualities="""fermented, wholegrain, acidified, spontaneous, freeze-dried, long-proofed,
            heterofermentative, low-gluten, stone-milled, active""",
        settings="""in rye starters, during cold proofing, in artisan bakeries, at twenty-five
            degrees, after repeated backslopping, in wholemeal dough, inside the crumb, in the
            pilot bakery""",
        activities="""feeding starters, isolating yeasts, measuring acidity, scoring loaves,
            proofing dough, sequencing cultures, tasting bread, milling grain""",
    ),
)
