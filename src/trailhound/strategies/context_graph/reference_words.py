"""Document frequencies of everyday words, made by ``benchmarks/make_reference_words.py``."""

from __future__ import annotations

from trailhound.strategies.context_graph.layer_classifier import ReferenceCorpus

N_DOCUMENTS = 3962
"""English pages of a generated demo web: the project's own text."""

_TERMS = """
contact:2861 teach:2768 librari:2756 week:2583 news:2545 research:2532 universiti:2515 catalogu:2469
peopl:2441 staff:2407 1871:2390 event:2357 depart:2206 admiss:2192 link:2173 studi:2099 cours:2072
list:2039 institut:2037 day:2024 school:1996 imprint:1950 time:1950 state:1928 author:1919
season:1823 collect:1809 discuss:1794 sampl:1781 measur:1725 model:1653 depend:1646 project:1588
plan:1581 version:1546 public:1536 larkhaven:1499 compar:1488 tabl:1472 scienc:1468 kingsmoor:1464
earlier:1454 review:1438 share:1434 test:1414 harborough:1406 data:1399 partner:1394 abstract:1384
experi:1374 fund:1371 workshop:1362 improv:1359 wyndal:1359 caldwick:1358 council:1355 comment:1326
refer:1304 eastmer:1302 northfield:1302 estim:1290 site:1279 explain:1247 text:1247 stonebridg:1233
set:1215 report:1212 repeat:1211 method:1209 bar:1185 section:1179 chang:1164 script:1158 read:1155
deviat:1152 error:1152 standard:1152 appendix:1132 averag:1126 assist:1122 employ:1122 find:1122
grant:1119 nation:1119 reli:1117 confirm:1115 larger:1115 bias:1111 clearer:1107 help:1107
engin:1104 predict:1103 preliminari:1102 respond:1101 combin:1094 address:1093 variat:1090
carri:1089 differ:1085 largest:1085 approach:1081 limit:1081 term:1070 write:1053 letter:1045
faculti:1015 board:1009 chemistri:1003 geographi:1002 meet:1000 recommend:961 telephon:958
member:915 examin:894 saltmarsh:894 offic:862 region:859 nutrit:853 econom:851 take:848 talk:837
afternoon:826 repair:821 histori:817 post:799 royal:787 room:781 detail:774 biolog:773 control:767
start:766 rosent:762 université:761 valmont:761 2020:758 survey:746 committe:742 winter:739
month:735 summer:732 guid:724 doctor:722 universität:722 hollowel:718 2019:712 learn:712 edit:710
starter:707 found:705 question:705 pdf:704 train:701 queensferri:691 friend:690 hold:689 penros:689
light:682 fallowfield:674 thornburi:671 oakminst:669 map:667 short:662 millbrook:661 1998:659
advic:647 articl:646 hour:644 redcliff:644 music:641 cost:633 bird:626 pressur:623 spring:615
brackenridg:611 build:607 water:606 handbook:600 secretari:599 rate:592 mainten:588 minut:587
bring:586 design:584 frame:584 greywat:580 slow:577 station:575 mediev:568 ashford:566 lea:566
tip:566 updat:563 box:559 effect:542 technolog:538 editor:535 growth:533 volunt:533 break:531
art:528 tool:522 weight:520 social:518 record:511 thursday:509 flow:508 autumn:507 accessori:505
format:505 hous:503 walk:501 book:500 cast:499 cultur:497 informat:497 matter:497 indic:495
appli:492 profil:490 role:488 choir:487 student:485 town:485 plate:483 floor:479 answer:473
concern:472 door:469 forecast:468 cycl:464 troubl:463 delux:462 move:458 store:456 pack:446 dri:444
seminar:443 select:442 tax:442 cell:440 layer:439 price:438 mountain:435 imag:432 pictur:428
timber:427 newslett:424 kit:422 account:421 bicycl:421 sing:421 spare:421 visitor:420 advis:415
film:415 protect:415 club:413 bachelor:412 master:412 subject:412 supervis:412 taught:412 these:412
patient:409 1924:406 analysi:406 grow:404 gift:403 voucher:403 join:402 market:402 bridg:401
sound:401 food:400 dog:399 enjoy:399 servic:399 track:399 electron:398 mail:398 develop:397
editori:396 journal:396 serv:396 main:395 repli:391 age:388 garden:385 wood:385 check:384
curriculum:383 deliveri:383 request:383 rule:383 vita:383 annual:382 basket:382 bus:382 cover:380
field:380 hall:380 2012:379 graduat:378 cloud:376 paper:376 maker:375 rang:374 spent:374 load:371
observatori:370 teacher:370 pension:369 arriv:366 candid:365 worth:365 travel:364 law:358 extern:357
breed:356 grain:354 name:354 assess:352 date:352 bee:351 written:351 dough:349 team:347 star:346
2006:344 2014:344 border:344 visit:342 roof:340 children:339 1997:337 2000:336 reform:336
download:334 northern:334 street:333 2011:332 2023:332 evening:332 herald:332 2018:331 coloni:331
channel:328 2003:327 2007:327 cake:326 centr:325 save:325 tram:325 1994:324 lectur:324 campus:323
len:323 2005:322 expect:322 traffic:322 urban:322 enrol:321 rail:321 2004:320 2008:320 2001:319
1999:318 2016:318 step:318 2009:317 inspect:317 power:317 cup:316 2022:315 custom:313 origin:313
poor:313 2010:312 societi:310 trial:310 1995:309 2002:309 count:309 industri:308 2021:307 morn:307
tuesday:307 contract:306 dean:306 usual:306 attract:305 belong:305 network:305 exchang:304 reach:304
desk:303 2013:302 adult:302 gustav:302 batteri:301 speech:301 2015:300 support:300 easier:299
bote:297 practic:297 rosental:297 courier:296 opinion:296 spend:296 basi:295 chess:295 demonstr:295
print:295 regist:295 spoil:295 result:294 surpris:294 bad:293 bewar:293 plot:293 sign:293
appoint:292 plant:292 award:291 bench:291 fast:291 scholarship:291 august:290 countrysid:290
forum:290 laboratori:290 expert:289 left:289 specialist:289 membership:288 pupil:288 figur:287
publish:287 1996:286 arrang:286 car:286 programm:286 2017:285 critic:284 except:284 faculté:284
grown:284 money:284 newbi:284 coffe:282 snow:282 variabl:281 earth:280 surplus:280 ticket:280
treasur:280 exercis:279 discount:278 piec:278 extend:277 photograph:277 cook:276 outing:276 seed:275
tag:275 circl:274 independ:274 punctual:274 size:274 charg:273 dig:272 pollen:272 wooden:272
acoust:271 iron:271 buyer:270 thread:270 exposur:269 lend:269 flower:268 resid:268 für:267
accompani:266 generat:266 coat:265 gaug:265 contribut:264 valid:264 ring:263 wrote:263 hope:262
margin:262 ormond:262 energi:261 heat:261 item:261 stock:261 clara:260 enzym:260 patienc:260
mechan:259 migrat:259 ecolog:258 hole:257 genom:256 return:256 score:256 ice:255 camera:254
brake:252 glacier:251 includ:251 postag:251 conserv:250 insul:250 stream:250 accept:249 card:249
mathemat:249 payment:249 solv:249 declin:248 road:248 spokesman:248 chimi:245 greav:245 life:245
des:244 draw:244 honey:244 smooth:244 tessa:244 wet:244 decis:243 droit:243 hear:243 économi:243
brood:241 bind:240 correct:240 announc:239 informatiqu:239 bibliothèqu:238 coast:238 histoir:238
night:238 excav:237 minist:237 museum:237 line:236 regress:235 actualité:234 bought:234 disrupt:233
hand:233 monday:233 kitchen:232 ursula:232 varga:232 accueil:231 agenda:231 colour:231 enseign:231
feed:231 inscript:231 légale:231 mention:231 présentat:231 recherch:231 équip:231 assumpt:230
sleeper:230 tree:230 violin:230 balanc:229 bargain:229 heavi:228 rye:228 altogeth:227 avoid:227
del:227 sport:227 transport:227 restor:226 allot:225 amigo:225 leav:225 puerto:225 guess:224
mild:224 attend:222 electr:222 match:222 sequenc:222 chapter:221 imput:221 reader:221 send:221
assembl:220 forget:220 normal:220 biologi:219 ernährung:219 famili:219 fine:219 informatik:219
geowissenschaften:218 tidal:218 tune:218 leaf:217 level:217 musik:217 parchment:217 paint:216
hive:214 meadow:214 nois:214 hypothesi:213 seri:213 stall:213 bibliothek:211 doubt:210 interfac:210
neighbour:210 swear:210 aktuell:209 bewerbung:209 fachbereich:209 forschung:209 impressum:209
kontakt:209 lehr:209 lindqvist:209 personen:209 sold:209 startseit:209 un:209 veranstaltungen:209
über:209 concert:208 wildlif:208 wear:207 recoveri:206 causal:205 infer:205 nectar:205 code:204
protein:204 seedl:204 wind:204 grid:202 ink:202 julian:202 sow:200 alpin:198 birgit:198 budget:197
helen:197 label:197 competit:196 manag:196 rout:196 staircas:196 felix:195 topic:195 draft:193
prepar:193 system:193 watch:193 current:192 manuscript:192 silver:192 marchetti:191 river:191
greenthumb:190 miss:190 photographi:190 valu:190 proof:189 suitabl:189 confer:188 fit:188 form:187
hanna:187 rosa:187 marcus:186 zora:186 coin:185 gild:185 prior:185 vibrat:185 charter:184
compost:184 interpret:184 releas:184 common:183 dora:183 protocol:183 beginn:182 busi:182 care:182
radar:182 reduct:182 replac:182 rotat:182 play:181 cut:180 sourc:180 centromer:179 ferment:179
gavin:179 mould:179 outlier:179 petra:179 quiet:179 trade:179 acid:178 companion:178 firm:178
handi:178 air:177 ground:176 shift:176 timet:176 black:175 stefan:175 sugar:175 dormanc:174 mark:174
pitch:174 blade:173 engstrom:172 ferri:172 lock:172 chain:171 drug:171 turbin:171 corrigan:170
drone:170 dunmor:170 eastbi:170 fire:170 frost:170 mara:170 purfl:170 redfern:170 root:170
safeti:170 sediment:170 advanc:169 corros:169 fault:169 lionel:169 okafor:169 campaign:168
henrik:168 note:168 polici:168 dialect:167 frequenc:167 proven:167 xenia:167 deal:166 function:166
instrument:166 search:166 signal:166 structur:166 weekend:166 island:165 random:165 gene:164
look:164 queen:164 thea:164 treatment:164 activ:163 ballast:163 beatrix:163 clean:163 cool:163
electrolyt:163 footbal:163 humid:163 yardley:163 portrait:162 spruce:162 auction:161 constitut:161
introduct:161 sensor:161 ivo:160 yara:160 exampl:159 exhibit:159 gilchrist:159 introduc:159
jardin:159 languag:159 moder:159 ruth:159 karl:158 log:158 marker:158 owen:158 percept:158
residu:158 anecho:157 confid:157 health:157 interval:157 interview:157 pickl:157 rescu:157
whitlock:157 associ:156 beekeep:156 clinic:156 prize:156 varnish:156 delet:155 doubl:155 quentin:155
varroa:155 wave:155 stew:154 agre:153 bed:153 coastal:153 digit:153 leoni:153 meal:153 rural:153
baroqu:152 pigment:152 quick:152 sila:152 ellwood:151 fun:151 white:151 conrad:150 devereux:150
english:150 fold:150 household:150 modul:150 wilma:150 wing:150 behaviour:149 damp:149 injuri:149
rehears:149 rose:149 scroll:149 linnea:148 modal:148 swarm:148 tenant:148 integr:147 loss:147
monitor:147 quir:147 wake:147 drill:146 edwin:146 ingram:146 lesson:146 mapl:146 prune:146
thackeray:146 yusuf:146 chalk:145 fairburn:145 grassland:145 park:145 solubl:145 statist:145
blitz:144 callum:144 fade:144 ibsen:144 mite:144 quarri:144 dmitri:143 haldan:143 holloway:143
ion:143 permit:143 priya:143 ashdown:142 censor:142 fruit:142 noemi:142 solid:142 cosmo:141
cross:141 drift:141 backslop:140 blunder:140 corpora:140 kestrel:140 kirkbrid:140 layout:140
mill:140 tarrant:140 ablat:139 elsa:139 leagu:139 leather:139 naismith:139 sale:139 wanda:139
cabl:138 construct:138 flood:138 simul:138 sinclair:138 slug:138 knead:137 stack:137 vanc:137
amara:136 crevass:136 final:136 meltwat:136 cathod:135 fee:135 moor:135 reson:135 tone:135 trail:135
citi:134 coach:134 crowther:134 flock:134 recycl:134 remov:134 yelland:134 anod:133 barrag:133
farrow:133 fiona:133 rotor:133 sea:133 annot:132 emil:132 sell:132 ezra:131 milan:131 mutat:131
pasta:131 screen:131 storag:131 birchal:130 cold:130 joint:130 phase:130 castel:129 galloway:129
lockwood:129 pouch:129 thick:129 quill:128 rare:128 tablet:128 core:127 flight:127 merriman:127
oskar:127 tobia:127 carv:126 climat:126 pemberton:126 predictor:126 seab:126 strain:126 subglaci:126
surfac:126 wast:126 aidan:125 array:125 consolid:125 dye:125 freight:125 game:125 hygien:125
ravensbi:125 storm:125 tournament:125 dalgarno:124 inhibit:124 juvenil:124 noisi:124 regen:124
scribal:124 imped:123 palimpsest:123 potteri:123 roman:123 squad:123 cautionari:122 delia:122
loan:122 selwyn:122 steep:122 tale:122 wader:122 nadia:121 nurs:121 tast:121 wexford:121 comb:120
lithium:120 nonparametr:120 peak:120 process:120 soil:120 dna:119 facad:119 leaven:119 lover:119
rover:119 suppli:119 tap:119 yield:119 amateur:118 baker:118 greta:118 harrow:118 idea:118
runoff:118 stopov:118 word:118 bellami:117 dendrit:117 direct:117 estuari:117 gluten:117 lens:117
metal:117 motorway:117 rain:117 regulatori:117 samuel:117 web:117 arch:116 flake:116 fleet:116
mutant:116 passag:116 risk:116 sharpen:116 translat:116 zeller:116 appeal:115 bend:115 brandt:115
langford:115 type:115 compound:114 grammar:114 oak:114 offici:114 stratifi:114 wit:114 brick:113
hartigan:113 ine:113 inherit:113 moorcroft:113 polym:113 renov:113 wait:113 wall:113 weather:113
macro:112 mist:112 net:112 pioneer:112 prentic:112 prevent:112 statut:112 ulverston:112 youth:112
elphick:111 farmhous:111 herb:111 regul:111 resist:111 stone:111 studio:111 underhil:111 anton:110
dispers:110 guest:110 motor:110 orchid:110 scale:110 softwar:110 temperatur:110 darkroom:109
dietari:109 evid:109 flatten:109 gather:109 isol:109 joanna:109 overwint:109 photosynthesi:109
verb:109 dawn:108 forag:108 inflat:108 mode:108 nocturn:108 nordahl:108 scriptorium:108 torqu:108
collat:107 moult:107 paula:107 raini:107 robust:107 sourdough:107 gall:106 hike:106 illumin:106
latent:106 melt:106 speed:106 viktor:106 vitamin:106 bayesian:105 court:105 debri:105 demand:105
facsimil:105 intellig:105 jessop:105 labour:105 pollin:105 sherd:105 sinter:105 stage:105 fat:104
retreat:104 stake:104 goug:103 toler:103 crumb:102 herbaria:102 spars:102 tongu:102 trip:102
unbias:102 bake:101 blood:101 cv:101 fenwick:101 flyway:101 linkag:101 proglaci:101 mass:100
apiari:99 bilingu:99 blur:99 bread:99 catchment:99 collaps:99 entri:99 fatigu:99 harbour:99 trace:99
virus:99 borehol:98 divis:98 drought:98 graft:98 miner:98 monast:98 sticki:98 voic:98 vowel:98
yeast:98 archaeolog:97 charger:97 express:97 garnet:97 outburst:97 tripod:97 beach:96 boundari:96
bush:96 daylight:96 infest:96 warbler:96 fragmentari:95 monument:95 oral:95 spectra:95 audienc:94
loud:94 mous:94 pick:94 psalter:94 rais:94 refere:94 shrub:94 tenanc:94 connect:93 jam:93 pit:93
sandi:93 bug:92 refactor:92 truss:92 vacant:92 compil:91 endang:91 hop:91 rib:91 separ:91 sew:91
base:90 beneath:90 italian:90 trench:90 wage:90 wrong:90 abendroth:89 diseas:89 multispectr:89
press:89 roast:89 sermon:89 silenc:89 specimen:89 trait:89 disus:88 plane:88 premier:88 snout:88
dose:87 endgam:87 happen:87 inhibitor:87 passerin:87 session:87 strang:87 yesterday:87 arthur:86
chromosom:86 citizen:86 codic:86 eat:86 habit:86 legal:86 mow:86 suit:86 assay:85 bank:85 basal:85
guild:85 habitat:85 lay:85 overhead:85 releg:85 slide:85 amulet:84 departur:84 digest:84 judici:84
landscap:84 mask:84 receptor:84 rock:84 vessel:84 carpet:83 corner:83 domain:83 feather:83 flour:83
loav:83 mediat:83 moss:83 preserv:83 right:83 singl:83 speaker:83 trap:83 environment:82 glass:82
oven:82 rear:82 spell:81 syrup:81 wholem:81 absorpt:80 chop:80 consent:80 disput:80 fidel:80
filter:80 marin:80 moulin:80 nosema:80 onion:80 optimis:80 pass:80 spore:80 templat:80 backup:79
ceram:79 chat:79 estat:79 morain:79 port:79 squar:79 tunnel:79 exhaust:78 hedgerow:78 downturn:77
inject:77 oxal:77 settlement:77 sulfid:77 synthesi:77 wash:77 crystal:76 foulbrood:76 inform:76
radio:76 runaway:76 satellit:76 theatr:76 thermal:76 viola:76 volcan:76 axl:75 cavit:75 consum:75
crack:75 hub:75 orient:75 palaeograph:75 rise:75 soup:75 switch:75 variant:75 worker:75 bean:74
choos:74 digitis:74 dusk:74 interact:74 limeston:74 pattern:74 winterbourn:74 clear:73 domin:73
foundat:73 greenhous:73 loudspeak:73 stabl:73 strength:73 success:73 theori:73 treat:73 viewpoint:73
botan:72 dosag:72 hedg:72 perenni:72 pesticid:72 uptak:72 anim:71 barrier:71 databas:71 facil:71
glue:71 hide:71 partial:71 phytat:71 accent:70 cliff:70 duct:70 gut:70 heap:70 infant:70
microphon:70 mirror:70 popul:70 retouch:70 scan:70 terrac:70 accumul:69 burial:69 dish:69 hoard:69
hotel:69 intak:69 lagoon:69 mound:69 pantri:69 polit:69 rainfal:69 agreement:68 bakeri:68 basin:68
drainag:68 fingerboard:68 mouth:68 nativ:68 opera:68 shed:68 swallow:68 transcrib:68 weigh:68
atmospher:67 drummond:67 equilibrium:67 firn:67 harvest:67 incom:67 initi:67 junior:67 tonewood:67
breakdown:66 courtyard:66 fog:66 galaxi:66 juhasz:66 oxid:66 quartet:66 scour:66 string:66 tide:66
tracer:66 wholegrain:66 angl:65 calibr:65 caviti:65 embed:65 gutter:65 synthes:65 thumb:65 uplift:65
weld:65 wide:65 copi:64 fallen:64 geoloc:64 hut:64 impuls:64 pest:64 replay:64 salt:64 strand:64
target:64 everyday:63 fragrant:63 improvis:63 isherwood:63 lava:63 picnic:63 puzzl:63 sky:63
snowfal:63 tomato:63 bass:62 centuri:62 counsel:62 keswick:62 modern:62 neck:62 oilse:62 particl:62
rape:62 slack:62 submerg:62 twelfth:62 veget:62 western:62 capac:61 cello:61 identifi:61 judg:61
lake:61 mixtur:61 refuel:61 ridg:61 scene:61 spice:61 ensembl:60 entranc:60 flavour:60 hardi:60
invas:60 marshal:60
"""
"""Stemmed terms with the number of documents that they occur in, most frequent first."""


def shipped_reference() -> ReferenceCorpus:
    """The table as a reference corpus."""
    pairs = (entry.rpartition(":") for entry in _TERMS.split())
    return ReferenceCorpus(N_DOCUMENTS, {term: int(count) for term, _, count in pairs})
