/**
 * Most common passwords: 3,000 passwords of any length and 3,000 of at least 8 characters, from leaked lists.
 * Some of the words are offensive.
 *
 * Taken, by rank, from `passwords.json` of the npm package @zxcvbn-ts/language-common 4.1.3, under this licence (MIT):
 *
 * Copyright (c) 2012-2016 Dan Wheeler and Dropbox, Inc.
 * Copyright (c) 2021 @zxcvbn-ts
 *
 * Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated
 * documentation files (the "Software"), to deal in the Software without restriction, including without limitation the
 * rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit
 * persons to whom the Software is furnished to do so, subject to the following conditions:
 *
 * The above copyright notice and this permission notice shall be included in all copies or substantial portions of the
 * Software.
 *
 * THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
 * WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR
 * COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR
 * OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
 */
const commonWords = `
123456 password 12345678 qwerty 123456789 12345 1234 111111 1234567 dragon 123123 baseball abc123 football monkey letmein
shadow master 696969 michael mustang 666666 qwertyuiop 123321 1234567890 pussy superman 1qaz2wsx 7777777 fuckyou jordan
qazwsx jennifer 123qwe 000000 killer trustno1 hunter harley zxcvbnm asdfgh buster andrew batman soccer tigger charlie robert
sunshine thomas iloveyou fuckme ranger daniel hockey george computer michelle jessica starwars asshole pepper klaster 112233
zxcvbn freedom princess joshua maggie pass ginger 11111111 131313 fuck amanda ashley love cheese 159753 nicole summer
matthew chelsea dallas biteme matrix william yankees 6969 taylor corvette austin access martin heather thunder merlin secret
diamond hello anthony hammer fucker 1234qwer silver gfhjkm justin patrick richard bailey internet samantha golfer scooter
test orange cookie q1w2e3r4t5 maverick jackson sparky mickey phoenix bigdog snoopy guitar whatever chicken morgan andrea
camaro mercedes peanut ferrari cowboy falcon welcome samsung sexy steelers joseph smokey dakota melissa arsenal boomer
eagles tigers marina nascar booboo gateway porsche yellow monster spider diablo hannah bulldog junior london purple compaq
lakers iceman qwer1234 hardcore cowboys money banana ncc1701 boston brandon tennis johnny miller q1w2e3r4 coffee scooby
123654 edward nikita mother yamaha brandy barney chester fuckoff oliver charles player knight forever steven rangers
midnight chicago bigdaddy redsox victoria badboy angel please fender chris jasper james slayer rabbit natasha rachel bigdick
marine wizard marlboro raiders prince casper fishing flower crystal jasmine panties iwantu adidas winner winter gandalf
password1 enter ghbdtn 1q2w3e4r angela mike golden lauren cocacola jordan23 winston madison angels blowme panther sexsex
bigtits spanky bitch shannon sophie johnson asdfasdf david horny thx1138 toyota tiger murphy dick canada danielle 12344321
blowjob 8675309 jonathan liverpoo muffin cooper apples jackie dennis black qwerty123 passw0rd john abcd1234 sandra pokemon
123abc slipknot carlos qazxsw 123456a scorpion qwaszx nathan butter startrek rainbow asdfghjkl razz redskins newyork gemini
cameron qazwsxedc florida liverpool turtle nicholas viking booger wilson sierra butthead doctor rocket 159357 victor
dolphins captain bandit jaguar packers pookie peaches 789456 asdf blue dolphin helpme tucker theman tiffany maxwell jeremy
qwertyui shithead debbie albert maddog lovers monica alex united giants nirvana metallic hotdog rosebud mountain benjamin
warrior stupid elephant suckit success bond007 jackass bonnie alexis porn lucky jason scorpio samson q1w2e3 rush2112 azerty
freddy driver willie calvin 1q2w3e4r5t sydney gators dexter red123 12345a 123456q bubba creative golf voodoo happy arthur
trouble america nissan gunner rebecca stella garfield gordon jessie bullshit parker asdfghjk 5150 fucking apollo jack
1qazxsw2 2112 eminem december legend airborne beavis august bear apple brooklyn godzilla skippy buddy 4815162342 qwert
kitten magic shelby beaver phantom fred nothing asdasd williams xavier braves darkness blink182 travis copper tomcat
platinum qweqwe girls 01012011 bigboy green power 102030 animal police 11223344 online voyager lifehack 12qwaszx fish sniper
315475 trinity walter blazer heaven lover snowball playboy bubbles loveme hooters cricket marvin willow donkey topgun
nintendo saturn family november gabriel destiny pakistan pumpkin digital sergey chance explorer redwings private therock
runner tits 789456123 lasvegas guinness beatles fire cassie christin qwerty1 asdf1234 celtic broncos andrey 007007 babygirl
nelson donald scott eclipse cartman fluffy louise michigan testing carolina little samuel alexande birdie steve cherry
pantera sharon gibson vampire mexico dickhead peter buffalo montana genius beer flyers maximus school minecraft lovely
stalker metallica doggie carter kristina kimberly spencer speedy barbara snickers sabrina carmen marcus bronco yankee
friends paradise lol123 dreams magnum horses cool caroline 147258369 lacrosse ou812 goober member qwertyu enigma scotty
pimpin bollocks brian cock surfer sammy genesis poohbear dave star asd123 qweasdzxc baby racing friend hello1 hawaii eagle1
billy viper october vanessa poopoo einstein boobies stanley 12345q walker bitches paul drowssap stephen courtney simple
alaska badger action jake bill denise jester 111222 spitfire drummer forest patricia maryjane champion diesel svetlana rock
friday kevin mark gregory pamela frank hotrod 147258 chevy anderson lucky1 douglas westside security google badass shorty
tester thumper hitman mozart general reddog boobs zaq12wsx music 010203 lizard alexander melanie a123456 ruslan 123456789a
vincent eagle 1232323q sweet teresa scarface 147852 qwerty12 a12345 marshall olivia veronica porno buddha spirit frankie
money1 stargate antonio liberty natalie mercury naruto qwe123 12345qwert suzuki semperfi king popcorn spooky marley system
brittany claudia kelly scotland free kitty cherokee vikings simpsons death leslie rascal qweasd jimmy loveyou hummer
michael1 allison rocky patches russia adrian jupiter penguin cumshot howard passion honda vfhbyf andre vladimir franklin
sandman 123789 infinity homer bastard raider passport assman sucker fantasy bulldogs 1234554321 horney domino budlight
ironman disney norman usuckballz1 softball bishop francis brutus ford redrum brooke bigred jeffrey jesus fktrcfylh karina
marines kawasaki digger ireland oksana fireman cougar college shit alicia russell houston monday bradley cunt sarah nigger
justice super wildcats tinker duncan dancer logitech avalon swordfis everton reggie motorola alexandr molly timothy hentai
pussy1 claire patriots madonna colorado eugene ducati kermit juventus indian connor galore freeuser smooth house titanic
boogie simpson warcraft wolverin elizabet arizona saints valentin georgia asdfg test123 accord matt baxter denver mitchell
christ password123 yfnfif slut smith stinky zachary roland naughty ncc1701d spiderma chopper brenda hello123 extreme
virginia water skyline poop zombie pearljam froggy pirate fylhtq vision 123qweasd awesome alyssa dreamer predator bullet
empire wolf charlie1 kirill 123123a people penis elvis panthers skipper nemesis peekaboo rasdzv3 simon alison rolltide
american cardinal arnold chevelle daddy psycho happy1 danger mookie wanker manutd 9379992 tommy hobbes vegeta goblue 852456
burton fyfcnfcbz picard 159951 bobby windows loverboy lovelove vfrcbv victory 123654789 bambam turkey serega tweety hiphop
galina changeme rooster polina berlin suckme taurus electric ronald avatar 134679 mine raptor alpha1 maksim spring brazil
eric bigcock newport hard kenneth hendrix madmax england a1b2c3 alpha sublime britney france darkside bigman hercules
lawrence wolfpack classic letmein1 lincoln ronaldo 741852963 spiderman 1q2w3e blizzard cheyenne 123456789q wombat bubba1
tiger1 cjkysirj raymond brother kristen pandora devils zxc123 simone holiday wildcat horse kramer 12312 147852369 buddy1
sterling caesar alabama carrie bondage basketball sports pussycat pickle catch22 leather shaggy a1b2c3d4 chronic flowers
qaz123 qqq111 robbie admin gracie amber freepass airplane perfect kodiak billybob katana sunset crazy good stingray maria
anna snowman phpbb angel1 chocolat zeppelin garcia detroit wolves pontiac candy firebird vagina gundam panzer outlaw time
pretty fisher connie honey business trevor redhead hardon greenday tarheels 01011980 nastya hellfire cobra engineer dragon1
savage service serenity sasha michele dude lickme fireball 1029384756 white remember darkstar miranda flash mustang1 01011
124578 harvey oscar strike freddie pavilion beauty bobafett 01012000 adam dbrnjhbz jeff bigmac chris1 duke clinton bowling
jenny natali future harrison jones wallace welcome1 swimming apache rulez pyramid dodgers girl whynot fuckit defender teens
morris trooper 135790 cancer precious packard lucifer popeye weasel 142536 raven icecream stewart tanner swordfish blonde
sandy presario rockstar viktor manager cheryl norton james1 control wutang airforce julian atlanta pimp spike thailand
looking casino 741852 21122112 paris mouse lennon 456123 bluebird theone hawkeye hacker lisa dustin elaine nfnmzyf sailor
catfish goldfish maxima tattoo barbie light design pervert machine herman wrangler rocks trucks nipples roscoe tornado jerry
lights bubble cadillac 666999 madman orlando pegasus target longhorn laura philip browns eatme stefan cannon dilbert baller
microsoft winnie christia katie qazwsx123 shooter xfiles qazqaz lesbian street seattle corona amateur cthutq prelude 246810
beach malibu freaky assassin integra atlantis 123qweasdzxc pussies dragons iloveu monkey1 unicorn lonewolf regina 753951
stealth kristin tony peewee openup bobcat stacey software newton leonardo student srinivas angelina young enjoy valentina
trigger zaqwsx lolita athena shotgun coyote bruins veronika dollar country rocky1 joker babydoll lestat wordpass hottie
smiley potter random sweety butterfly woody chipper snake samurai video gizmo maddie devildog valerie mistress flipper
freedom1 express powers soso123aljg cessna teacher goldie moose polaris piglet cookies elena montreal hjvfirf ladies
wolfgang fatboy scully father single wicked daisy fetish foobar castle tickle bunny pepsi balls transam dfvgbh 31415926
oicu812 impala sunday booty hotstuff ronnie jasmin ryan gambit toshiba basketba lancer birthday texas stephani jessica1
hooker knicks 314159 roberto stinger testtest fuckyou2 kathleen savannah shamrock benson squirt deftones trucker nick
redneck goldberg alfred blaster siemens shelly renegade manson subaru ibanez blondie hamilton casey swinger reaper cristina
minnie mylove harry galaxy lindsay dudley farmer gloria special blahblah enterpri 1234abcd travel babylon5 bigone sweetpea
sugar smoke skeeter fucked indiana great ficken trfnthbyf master1 freeman curtis smitty marino joanne bigfoot escort babes
check larisa trumpet tristan spartan babylon asdfghj sister valera stormy paladin andreas cavalier marathon hamlet aardvark
butterfl bigboobs mister manchester yankees1 rusty napoleon seven indigo hornet skater jerome pierre wonder toronto rose
indians karate buckeyes 01011990 julie hesoyam fredfred charger highland sweetie holland 1qaz2wsx3edc chiefs diamonds
buckeye aurora hotsex campbell griffin brandi redman passwor chandler drpepper monika maiden elizabeth leonard bernie brown
pornstar garden storm autumn 12345678910 linda thuglife millie jungle pencil tomtom insane pizza timber jesus1 sherlock
mariah audrey david1 1a2b3c hamster aragorn pioneer techno catdog lollol triumph sidney 141627 321654 fktrctq none sophia
morpheus island wetpussy hobbit blabla erotic shadow1 aaron pascal sampson consumer justme marion stones chrissy tyler
nadine marie goforit burger pitbull kelsey adgjmptw spartak german karen kissme hunting kaiser martha colors artist harold
bass italia sammie barcelona mario nicolas virgin pebbles sundance isabella overlord emerald callie doggy irina racecar
isabelle germany 1478963 goddess change wesley nipple basket joejoe holly poison zipper alpine shirley element huskers
marcel eddie danny christy pussys sakura chichi inside ultimate dirty nicola ncc1701e blackie q12345 omega watson rommel
matthew1 geronimo nikki caserta trojan 123qwe123 philips sergio nugget sammy1 tarzan bassman warren trixie chicks aleksandr
cream webster help sherry manuel portugal dodger anakin bobbob bomber michel madness superfly q1w2e3r4t5y6 loser 123asd
florence yvonne fatcat global ybrbnf energy desire wrinkle1 soldier bianca sexual warlock martina babe 951753 11235813
51505150 andrei larry seminole peace alejandr westham concrete access14 harris margaret hector christop naked ladybug
letmein2 network bernard weed tintin qazxswedc trombone chuck pleasure rhbcnbyf home history bluesky sherman logan january
onelove cotton christian cdtnkfyf sunny archie holden whore brianna vfvjxrf titans stallion lindsey singer truck smile party
missy hansolo angelo joanna natalia beagle phillip panama smiles blue22 juice qawsed inferno moon mongoose connect kingkong
snatch flatron sex4me bluemoon turbo rocker personal emily blessed snakes dominic joey forget finger beetle jamaica alberto
a1234567 mulder fuckyou1 jamie susan immortal head passat plastic 123454321 dietcoke spunky suck long anthony1 whiskey
monitor giovanni cactus ripper spyder markus planet magic1 teen patton exigen sticky waters sluts nolimit daniela hollywoo
abigail apple1 morrison katrina trunks 1234321 andy assass always diana deedee 14789632 clifford april speed japan mission
pickles million sailing freak holmes bonehead fernando ghbdtnbr 112358 911911 charlott delta yomama darren rubber newman
molly1 1123581321 faster cumming bertha memphis sylvia open ilovesex maurice william1 hongkong olga jumper unreal geheim
rodney nylons sebastia pentium legion shalom kennedy 555666 brooks movie dodge dream graham sprite curious pacific loulou
funtime philly ferret niners orion werewolf milton cantona kingdom stars africa office boeing gilbert abgrtyu pirates
super123 sheila french sweets cooldude palmer eternity lollipop tottenha green1 stocking monique anything foster irish
jackoff 7895123 biscuit drizzt camera columbia fossil moomoo makaveli tracey colt45 robinson isabel martini salmon shasta
jersey verbatim maniac snapper satan666 nasty solomon patriot jacob standard shaved blackcat asdzxc punkrock raistlin
infantry qwerty12345 4128 dillon gerald twister ricardo waterloo cjkywt clayton crimson serena 01012010 oxford maxmax denis
flight condor seinfeld silvia biggie maxine musicman ravens teddy colleen bruce wolfman sharks megadeth cosmos velvet butt
keeper foxtrot garrett black1 damien anton sesame skywalke gn56gn56 banshee cats squirrel wolverine dogs sunrise rick ghost
western grendel sucks roxanne privet legolas frog felix marlin stone herbert lvbnhbq qazwsxed carrot blades frosty stardust
121314 helena brownie groovy penny butler coolio twilight daytona licker peanuts intrepid pikachu trains mollie vanhalen
jericho hershey strider lobster punisher grace bird zaq123 bottom ninja 1234567a murray kansas shogun goblin search neptune
ball showtime darwin amadeus suzanne fuckfuck seven7 jason1 111222333 oldman bruno showme henry getsome muscle obiwan
support rfrfirf skittles ekaterina gold whitney shark maestro anal danni tanker english tarheel fighter thanks blue123
hannibal capital newlife anubis gothic chaos blues cindy sabine thunder1 roman preston princes brendan slick 123456z evelyn
python test1 richie tequila boss cody devil chelsea1 clover delete mirage blood surfing 1q2w3e4r5t6y bentley portland potato
baggins review porter chubby panasonic sandiego sooners buffy buck tina derrick penelope blackdog harmony fusion dima mature
malcolm allen mary buttons 1a2b3c4d californ safety playtime dagger moscow swallow warriors byteme stimpy gangster lucas
christine turner iverson lester chargers liquid asdf123 mushroom cracker dingdong lucky7 misty nymets 456852 robin bigguy
mobile tazman greg nimrod newpass miami crusader bugger stranger dkflbvbh anastasia marco volume masters monroe miguel
doodle collins powder archer gotcha battle dublin slapshot guardian 147896325 janice charly septembe photos knights woody1
short angelica nookie milano pepsi1 scarlett stuart damian grizzly 123098 123321123 camille scruffy brasil latino kittycat
poopie munchkin lorenzo rammstein 1701 1passwor bananas barcelon santiago thegame robert1 hell world gerard picasso viper1
walnut kolobok blackman wisdom trance starcraft parrot quality blade pink auburn goodluck eatshit dorothy dusty engine
coltrane gorilla wheels katerina tamara postal fuck_inside luther ranger1 pass123 carlo cassidy discover oakland andrew1
spanking osiris dumbass shaney14 192837465 lonestar ping bridge bingo bender annie stonecol dookie meridian sally megaman
heather1 25802580 racerx rjntyjr sirius firefly richard1 julia alexandra madrid terry griffey women phoebe zaq1xsw2 weezer
beautiful violet ledzep lowrider randy gangsta ghjcnj paradox tacobell 123698745 loving catalina vertigo halflife carson
sergei shiloh johnjohn sobaka buffett aliens sadie chucky bonjour kangaroo jazz josh thompson sinner socrates soccer1
keyboard 0.0.000 stevie 0007 jeep trebor finish dark luke sprint shazam lady national celica sarah1 scarlet formula1 hoover
sommer frances hotboy cynthia qwerasdf 12369874 penguins bond formula rebels fuckface elwood melvin honda1 vacation kiss
ragnarok bollox lexmark asshole1 mailcreated5240 lorraine 258456 claude rockon duck dodgeram tacoma romeo wookie prodigy
tempest vfhecz flames sebastian colombia bang kitkat oblivion mystery sithlord server molson mustangs incubus smoker 123qaz
window scoobydo 1122 rescue bigballs zxcv1234 carpet titleist richmond director lawyer megan juan magnolia celeste melinda
lucy wright jimbob golfing kenny roger bobbie xanadu tardis blueeyes hearts dixie pussy69 pooper shaman mersedes 102938
12312312 springer imagine janine patrick1 kenwood 123zxc dogg garbage martinez topper cowboys1 roberts lizzie ashton elliott
oracle sheena chloe nuttertools mallard 123987 1122334455 analsex shemale gateway1 mikey asterix faith monkeys imperial
jimbo cooler grateful gillian peterpan kingston yourmom sleepy gremlin printer hudson pa55word stud freckles birdman frank1
aussie esther defiant margarita 445566 deadhead polo anime tatyana jackal frogger bridget wayne research tobias mariners
rootbeer blondes donnie katrin weather aspirine frederic parola photo children account israel stephanie shaolin noodles
celine willy willis forgot scooter1 hallo mandy thomas1 11112222 rogers palace santos ohyeah magnus laurie creampie amazon
kisses queen ludwig fatass plymouth justdoit assfuck nellie 1234567q 12121 987456 6751520 putter broken nopass letsgo bryan
bones harley1 tatiana camel champs lightnin massive camelot bosco deanna gizmodo spidey caliente aezakmi 456654 goodtime
mypass roller catherin active pooh payton lonely redalert brucelee smokin porkchop astros aquarius raiders1 thankyou kevin1
atomic fletcher shopping a1s2d3f4 mason rusty1 marian vanilla hunter1 unknown sapphire temple qwert123 marvel beckham
qazwsxedcrfv kaktus 753159 myself sooner blacky elvis1 hastings buster1 power1 blackjac aggies scream picture 123321q abc12
judith iforgot kasper cxfcnmt bangkok 01012001 shitty spectrum eduard vader jammer painter primus veritas ernest kristi
chevrole amber1 amsterdam slappy valley 1221 horny1 pete hitler clancy spankme granny avenger satan sasha1 usa123 diamond1
rosemary husker candyman beatrice scrappy john316 simba falcons dylan front242 harder atlantic labrador 123456qwerty smudge
syracuse southern melody timmy elijah center darling throat stuff fatman krishna sanchez pancho gator pacman commando delta1
vulcan bush clitoris lemons alice 8j4ye3uz boner keith odessa barkley monopoly method kelley sara punkin pineappl celtics
lesbians 223344 space gangbang bennett area51 lick flyboy hamburg aaa111 asian carol spartans tricky romashka 123456aa
snuggles phoenix1 boat infiniti anders billie life homer1 drago blake hermes jesse goose jeremiah vivian annette homerun
dead forrest carolyn 1234567890q topcat hayden cosworth vectra grover goodbye charlotte cuddles bossman horndog doberman
gary telefon dawg qawsedrf ivanov durango peugeot killer1 franco kyle plumber bell rbhbkk pauline exigent brandon1 laguna
emmanuel webmaster bowler leopard strong theking redbull alan pics beast viktoria porsche9 breeze topdog starbuck omega1
dance dalton fuckers oscar1 hungry beefcake reality gjkbyf speaker shelley godsmack clarence writer loveit kingpin nokia
valhalla night starfish anarchy herbie blacks content 906090 sailboat desert fitness brando bohica achilles tractor jordan1
ncc1701a drake bull hidden kicker arsenal1 labtec napass bart pa55w0rd amelia tuesday frontier swingers jimmy1 caitlin
muppet terror legacy farside terminator bella matilda kentucky jackson1 doughboy ramona butthole phillies jrcfyf 789654
camels dannyboy oakley daniel1 nebraska latin double qwertyuio sabbath chang pinkfloy homers striker looker fallen maryland
luckydog azamat september iguana oklahoma moloko qwerty123456 agent007 vfrcbvrf javier vette daniil command rhonda studio
pistol miles skiing franky stoner conrad select tanya houses boris puppy elliot charmed vladik nathalie whocares 666777
maynard vkontakte ihateyou puppies zidane eileen dilligaf crash mandingo moneys tyrone funny nevada kotenok mystic
california 123457 budman church carlton rafael technics bone stick golfball rookie panda laptop today 01011991 jennie triton
river trojans bunghole zvezda 132435 15426378 hurrican central stripper dale filter jethro snow gustav ivan escape gizmo1
hawk igor aberdeen shane lespaul rfnthbyf enterprise butch dthjybrf 963852 1366613 cutter splash handsome oilers randall
cash nofear cupcake excalibu batman1 momoney gbpltw bigger belinda svetik possum metal moocow brothers bethany keystone
babyboy flamingo super1 firefox bogdan ccbill passwort soleil lancelot melissa1 vipers marilyn tdutybq juliet leader madden
russian australia sabina chase coolman babies skinny zaphod raven1 kamikaze verona bacon noodle rebel doobie designer
deadman attack vortex killme dogman pokemon1 gopher somethin danila 12332 reagan apollo13 chevy1 cancel torres 000007 freaks
azsxdc sassy donna dracula play poncho bearbear boots engage steve1 deskjet bradford bitch1 hammers deeznuts warhammer
rangers1 tight justine ralph fabian lewis casey1 summer1 blueblue marissa oregon bubbas sinatra hilton meatball mailman
dawson columbus manchest cthulhu macdaddy mighty michaela grandma ready sterlin cartoon summit 123456789z sentinel tolkien
bicycle peter1 blow beverly breast lickit kathy crazy1 meghan universe capone jenna julius wendy bryant truelove helen
123456k nancy eatpussy hailey kitty1 daisy1 chair 362436 bowser kathryn sexygirl fernand eleven rockets billyboy military
demon davis jamesbon iloveyo texas1 traffic saint daddy1 redhot microsof sonic miracle microlab gofish pantyhos pilot
lifetime rugby mayday aikido nina star69 01011985 conner cutlass tree thekid gordon24 theodore titties sweden function
polska danie gang 73501505 market scotch lansing elvira bloody sexx hustler anfield coke smut catman rush bonita tracy sony
fast 1234qwe 1225 passwor1 irish1 cheers tinman airbus peters china azsxdcfv santana hayley station gabrie scottie orioles
jenny1 01011970 charlton saun fortuna dfkthbz rustam warlord bigmoney superstar fordf150 terminal wildfire vladislav
hollywood gretchen saratoga 321654987 01011981 greenbay trinidad chicken1 rjirfrgbde meatloaf hyperion rightnow treasure
01011986 lisalisa chester1 jasmine1 maradona anaconda japanese catherine woofwoof pass1234 poontang christopher albatros
richards turkey50 kenworth happy123 dinosaur holyshit lionking happyday chickens chocolate ericsson positive crazybab
sherwood polniypizdec0211 fktrcfylhf zxcasdqwe hardrock anhyeuem madeline february abc12345 samsung1 applepie skywalker
gandalf1 davidson skorpion hellyeah australi rockhard hedgehog 13243546 yosemite 1qa2ws3ed mikemike pooppoop america1
karolina starship 0.0.0.000 salvador greatone freeporn football1 78945612 francois packers1 robotech roadkill backdoor
rastaman alliance killbill cinnamon sojdlg123aljg 18436572 963852741 bangbang jeanette operator mechanic amsterda pingpong
rasputin marianne majestic passwords kingfish zxcvbnm1 gotohell wrestlin railroad lineage2 thursday a123456789 peterson
phillips nwo4life charles1 kcj9wx5n underdog r2d2c3po snoopdog broadway umbrella splinter fuckthis chemical 123789456
jamesbond blackhaw passpass sinclair megapass translator magicman supersta giuseppe caligula shannon1 meredith bullseye
saturday kristine tunafish gfhjkm123 dkflbckfd p0015123 12131415 crawford tazmania deepthroat dfktynbyf tommyboy chainsaw
christina marino13 getmoney budweise qazwsx12 brighton vfhufhbnf mamapapa penthous chrisbln snowboar undertaker flounder
moneyman canadian viewsonic downtown 01011989 qwerty1234 eastside sneakers golfgolf panasoni chicago1 thanatos ghjcnjnfr
whitesox poseidon johannes gargoyle intruder sunnyday ferrari1 solution madison1 newcastl goldstar buckshot 01011988
titanium test1234 federico assholes superman1 sunflowe babyblue westwood apple123 boomboom florida1 motherlode multiplelo
callaway starfire paintbal winston1 123qwerty knickers lokomotiv panther1 thirteen rjycnfynby avalanch philippe hotpussy
01011984 zerocool tomorrow godfather original 01011987 newyork1 idontknow vfvfgfgf beerbeer 1x2zkg8w francesc syncmaster
christie zxasqw12 paintball monalisa terrapin spongebob attitude clevelan barefoot chuckles meathead 02071986 cfitymrf
cambiami 12345678q 03082006 blessing aleksandra gladiator southpark mazafaka pianoman casanova traveler hawkeyes clarinet
deeznutz 10203040 meowmeow monster1 triangle valencia 01011910 rhiannon crystal1 smeghead andromeda 12345679 cerberus
james007 tiberius gabriell salamander resident hayabusa together juliette 1q2w3e4r5 crjhgbjy nokia6300 rockford goldwing
brewster thegreat confused whiskers spaceman rebecca1 12qw34er gesperrt wrestling mohammed sersolution overkill rhfcjnrf
montgom240 bulldog1 something 12345qwe runescape lightning 14725836 19411945 hoosiers recovery 01011992 adrienne roadking
illusion 01091989 medicine leavemealone megatron doghouse 12345678a mortgage heineken fishing1 moonlight motherfucker
02071982 realmadrid balloons tinkerbell 135792468 babyface hardcock 01011975 blackbir bookworm godfathe seahawks talisman
blackjack hawaiian alphabet beautifu 123456654321 mortimer roadrunn password2 charlene christmas handyman digital1 tiffany1
01011993 dutchess 12301230 wareagle valkyrie idontkno teddybea dragonball babybaby dolphin1 inuyasha stanford sullivan
wishbone property gameover fuckoff1 kittykat sinister 02021987 dragon12 friendly aa123456 geoffrey newpass6 katherine
claymore 02011985 bitchass sporting matthews checkers 01011977 02041986 gabriela 02081988 alexalex preacher gamecube
02051986 armagedon playstation z1x2c3v4 02091987 12011987 rhtdtlrj blackout bcfields electron devil666 silverad 02021988
02031986 123456qw thunderb 02101985 ghostrider reynolds cannabis southpar jackson5 absolute lipstick 1234567890a laurence
02061985 02011987 mandarin baseball1 tottenham kleopatra dirtbike 1357924680 katherin northern cameltoe bluefish 02021986
slippery 01011983 02091986 qweasd123 mollydog annabell starcraf ghblehjr vasilisa scorpio1 illinois deadpool farscape
sunflower hopeless carpedie asdfzxcv shepherd 02021984 gatorade cameron1 borussia 01011982 flexible graphics fyutkbyf
123qq123 yfcntymrf 02081984 02081987 thedoors 7ugd5hip2j pussyman elizaveta 02061986 strength webmaste augustus alejandro
argentina corleone vampires 02031984 02021985 21031988 987456321 babylove sergeant dragonba stonecold register buttercu
01020304 01011999 millions millwall patience chrysler bullfrog a12345678 02011986 istanbul ashleigh 02081989 universal
binladen shanghai porsche1 gabriel1 jayhawks amateurs barbados nightmare knockers chevrolet cristian coolness 02041984
criminal hardware bobdylan capslock 02061989 teddybear gfhjkmgfhjkm missouri carlitos coldbeer netscape andromed brigitte
yeahbaby eldorado eastwood monkey12 paranoid rainbow6 soulmate 9293709b13 microphone kakashka 02021983 50spanks fgtkmcby
1234567891 brittney fastball creature just4fun smashing washington mephisto shitface fountain specialk estrella 02031987
buddyboy 02041983 02051983 piramida 02021989 violetta spencer1 salasana q2w3e4r5 heritage 11221122 browning 02041982
insomnia kissmyass budapest sexysexy pinkfloyd playboy1 sandwich testpass gamecock maxwell1 magician wildcard magazine
telephon 1234asdf 02081986 1a2s3d4f rochelle pringles iverson3 02041987 02041988 vsjasnel12 darklord loveless radiohea
02011988 reckless jiggaman tiger123 classics hooligan scrabble jellybea hawaii50 pharmacy abnormal concorde 01011979
02081985 qazwsxedc123 islander 02101984 jakejake 02011980 yjdsqgfhjkm kazantip strawberry maksimka wg8e3wjf 02021982
sweetnes master12 andersen ferguson 123456qwe dynamite gertrude doomsday rhjrjlbk mariposa killer12 mazda626 excalibur
marcello buttfuck masamune 02071984 12365478 chestnut fullmoon pornporn michael2 02031985 inspiron forsaken snowboard
lollypop insanity creation 02061988 katarina moonbeam gonzalez senators pumpkins windsurf green123 reddevil sheridan
rjhjktdf killkill woodland vanguard aviation stanislav 02081982 02051982 yankees2 mobydick sausages francesco anastasiya
nevermind presiden faithful vfitymrf happiness robotics 02011984 temppass highheel firewall polopolo 02031982 evolution
drummer1 02061980 pussy123 pumpkin1 download fandango qwerty11 mypassword earnhard angelika icehouse misfit99 christma
zaqxswcde 02061987 02091983 01081989 zxcvbnm123 pineapple harrypotter gorgeous 12051988 qwert12345 vikings1 spongebo
broncos1 starstar radiohead viktoriya holidays mckenzie reddwarf dodgers1 05051987 02071987 02101989 02041985 platypus
password12 02071980 1z2x3c4v abrakadabra marianna services 02101987 longjohn 134679852 01011900 alessandro honolulu nygiants
02091984 windmill freebird slamdunk snowflak irishman 02091981 bergkamp training warrior1 playstat mudvayne dudedude
jackjack johndeer zildjian 02061983 02041981 02091980 22041987 josephin fishbone genesis1 bigblock jefferso clippers
chambers thisisit monkeybo death666 hounddog pallmall 02051988 angel123 02041979 webhompas monsters 02051987 02081977
05051985 02071988 comanche 15051981 26061987 whiteout roadster stefanie heinrich undertak anastasi festival coolcool
qwe123qwe 02031981 mazdarx7 choochoo 08031986 02051989 123456789s iloveyou2 02051984 02061984 kisskiss cbr900rr lovelife
chipmunk good123654 bluebell kjrjvjnbd fuckinside 10011986 11051987 13041988 21031987 washingt tkbpfdtnf smirnoff pipeline
james123 fishhead 06061986 konstantin freefree summer99 newcastle krasotka 01031988 02091985 starligh wireless scoobydoo
02021979 koroleva michaels yogibear redbaron testing1 02021981 nascar24 president 7894561230 highbury zachary1 02061982
username survivor wanderer soccer12 fuckhead costello washburn catwoman lemonade bearcats solitude cocksuck 01011978
02011989 cricket1 slowhand paradigm nostromo borabora arkansas terminat rainbow1 fantasia stephen1 02041989 underground
johnson1 peaches1 cnfybckfd ghbywtccf 02101986 11081989 12021988 13041987 14061991 20061988 21011989 22021989 24061986
30051985 74108520 wildbill gilligan berkeley pool6123 armstron 01061990 tropical sundevil hurricane volkswag 01011960
02021976 zanzibar mustang6 trouble1 02071981 coventry gtnhjdbx 03041991 45m2do5bs nirvana1 sidekick 02031979 revolver
jackass1 cleopatr jermaine gbhfvblf 02081983 marines1 18011987 23041987 everlast tinkerbe bluesman customer 12qw12qw
marjorie penguin1 tokiohotel straight nautilus highlander firefire 02071983 longdong 07071987 threesom asdqwe123 02021973
01121986 ghjcnjgfhjkm 02011981 01071986 02091989 02071989 nokia6233 ghbdtn123 asdfgh01 valentine 10031988 10071987 12121990
13031987 14111986 19061987 19101987 24011985 25081988 28041987 123456123 matthias buddy123 private1 andyod22 complete
fredrick fearless antelope marseille pantera1 viewsoni 02081980 02021990 01091987 evangelion handball barselona zxcasdqwe123
sandrine sprinter fyfnjkbq 01041985 02101988 palmtree sonyericsson 10011990 10051987 10101986 11061985 12121985 13061986
14021985 17051988 20111986 22011988 25800852 28021992 question soccer10 carpente spartan1 pasadena coldplay fairlane
elcamino callisto tomahawk gladiato fantomas castillo honeybee yamahar1 02031989 wildwood 09051945 david123 johngalt
sweetness mcdonald buffalo1 02031980 01121988 02101981 cheshire superior 08121986 ministry trinitro bismillah capricorn
04041991 vendetta 03041986 02101983 margarit bigpoppa success1 voyager1 iloveyou1 01011995 11051990 16051987 16051989
17061988 20031987 20091991 21031990 22021986 25031987 25121987 27061988 28011987 28021990 29011985 29051989 29071983
30041986 04041988 antonina hetfield cutiepie nonenone papillon baritone stephane freefall vjqgfhjkm mischief foxylady
dominion enforcer leedsutd f00tball remingto rfvfcenhf 02011983 derparol 02051980 05051989 08051990 02041980 01041988
01061986 cleopatra carnival 01011994 ghjuhfvvf knuckles kayleigh 11121986 12031985 12031987 13121985 15011987 15051990
15101986 18061990 18091985 20051988 20091988 21051991 21101986 22071986 30031988 31011987 02071978 harddick firefigh
blowfish sexylady 08031985 alexandre whiteboy cromwell minemine dontknow 02011982 wp2003wp lakeside 123456ru noname123
screamer calimero 02101979 02051985 dfktynby francisc swinging 02041974 cygnusx1 trucking 08081988 obsidian money123
02031988 01031989 01011974 03031986 giovanna sasha_007 02051978 02071979 marijuana 02031977 02051976 kordell1 10101990
13021990 14021986 15021985 16121987 17011987 21051988 22031984 22041988 23021986 24111989 25041988 25091987 26031988
27081990 30041987 07091990 cassandr moonligh blueball bigbooty wrestler building fishfish paramedi capricor 01031985
universa lalakers cherries eclipse1 darkangel whistler smackdow strawber facebook 02051981 01021990 transfer clarissa
p@ssw0rd argentin slimshady nokian73 chris123 johncena pictures suckmydick dogpound 02051973 02041975 10041986 10071988
11021985 13071984 14081985 15071987 17111985 18091986 19011989 19031985 19283746 21011988 21011991 22061988 23031990
24111987 25011990 25091990 31031988 notebook prospect daylight capetown cartman1 09021988 fortress 01091985 telephone
eggplant fussball perfect1 hallo123 pufunga7782 02041978 budweiser marseill goodgirl 02051972 liverpool1 05061990 university
vincent1 01031984 02031983 southpaw sylveste forever1 magellan captain1 taekwondo 10081989 11031988 11071988 12041986
12041988 12061988 13011987 13011988 13051987 14011986 14021990 15011985 15041988 16051988 22021988 22071987 22091988
22121987 23021989 23041986 23051985 25101988 30081984 sonyfuck sabrina1 02031978 goldfing 1234zxcv marcius2 pentagon
hotgirls cornwall mandrake bubbles1 earthlink 01071987 lakewood moonshin suburban challeng opendoor 01011976 04041983
commande stanley1 jonathon 08081986 bubba123 02051977 navigator 02081976 hellokitty fkbyjxrf 02091988 07071977 03021986
millenium 07071990 05071984 01041987 gateway2 camaross bluejays 10031987 10101985 10121987 11061991 11121985 12071989
12081985 13061987 14101987 15071986 15071988 16021990 17061989 17101986 18021984 18041986 18051988 18101987 19051987
19061990 19121989 20041986 20081991 20091986 20121989 21061986 22011986 23051990 24031988 26031990 27041990 27061985
27071987 29061990 29071985 30041985 135798642 05071988 whatwhat optimist 02071985 enternow 01051989 03081989 destiny1
hattrick beatles1 natasha1 bordeaux 12345qwer vanessa1 09041987 therock1 ilovegod cardinals marriage espresso 02071975
p4ssw0rd nightwish gsxr1000 23skidoo ghhh47hj7649 shadow12 speedway 01041992 01041990 09031988 roadrunner ironmaiden
supernov toriamos 06041988 patches1 10061986 11051984 11051986 11091989 12041990 12051986 12051990 12121988 14041988
15021990 15051985 15111988 16051985 17041991 20021988 20041988 21061985 22061989 22081986 25071990 25111987 26061985
30011985 mamacita stigmata gonzales 01121987 nineinch waterboy klondike somerset 01031986 mulligan krokodil hardball
azertyui republic romantic vauxhall 02061977 06021987 rfntymrf almighty 06081987 stratfor mississippi suckdick houston1
intercourse power123 01021989 lenochka marijuan 02031975 limewire 04041990 blue1234 12345qwerty 01061988 htubcnhfwbz
awesome1 funstuff printing 10011983 11011990 14011989 14031988 15021986 16051990 17031987 17071989 18021988 18111987
19061985 20031991 21041992 24031990 24091986 25011986 25061985 27081986 28051987 29051985 29061989 theforce chiquita
05081988 maserati cabernet sheepdog hairball vancouve 02071976 123456789m scheisse montana1 pimpdadd baltimor mash4077
kirkland riccardo 07051990 02061976 sigmachi revolution dragon69 03041980 absolutely rfhnjirf 05091988 sammy123 colonial
04061986 02101976 q1234567 ilikepie 09021989 toonarmy 01031983 06051986 natalie1 bigdicks cashmone 02081981 02041977
01021988 11011991 11071985 11081987 12071987 12081984 12101988 13031986 14021987 14071987 15051987 15081991 16011989
16061986 16111990 17071985 18051990 18061985 19071986 19071988 19101990 20031988 21021985 22021985 22041986 22061941
22061987 22071989 22081983 22121983 22121986 23011985 23021985 24061987 24061988 25011985 25041985 25061986 25101989
26021987 27031989 28021985 28051986 myxworld kristian dominiqu darkange scrapper delaware progress gabriele smoothie
slimshad 08071987 q123456789 vqsablpzla pathfind elisabet evolutio 02021980 velocity annmarie dolemite vagabond woodstoc
02081979 plastics 02021991 08061987 aolsucks 02031973 rachelle billabon ncc74656 austin31 04061991 02021971 nevermore
p0o9i8u7 forgetit password9 reginald killer123 02091976 dukeduke archange minimoni hellsing rocknrol 02041976 03071987
zaqwsxcde morrowind friendster modelsne 03111987 05061986 04041985 02011975 futurama skateboard 10031991 10111986 11081990
11111987 11121987 12011989 12061986 12121982 12121987 13111990 14021983 14051990 14071988 14101988 15011986 15071985
15081988 15091987 16031990 16101987 17041987 17061986 19011987 19051986 19071990 20021986 21041985 21081987 21111985
22021990 22031991 22041985 22061990 23061990 24051990 26031984 26031987 27031987 27091985 29051990 29081985 29081990
29111989 29121987 30121987 31121990 homemade herewego lonesome pornking blackbird cucumber vipergts 123qwert muhammad
summer69 jeepster acidburn fireblad pinnacle 03061987 02101977 08041986 jellybean peterbil dilbert1 lighting homework
04051988 fellatio 03031988 baracuda flipflop singapor 04081987 sasha123 02091977 12345abc 05051990 crackers warhamme
masterbate starwars1 02091975 01011971 flamengo lfitymrf snowbird 123456789d bradley1 02101980 daughter navyseal 01081990
carebear kamasutra bastards 01061987 02051975 10041983 10061987 10081985 10293847 11011987 11071986 12051985 12101985
13111984 14071986 14881488 15051986 16061985 17011990 17021985 17091987 17101987 18011986 18021986 18041990 19091988
19111987 20011989 20051985 20071986 21071989 21111990 21121986 23011990 23021988 23051986 24011990 24021991 24061992
24121986 25011993 26041986 26041991 26051988 27011988 27051987 28021986 28071986 29011987 31011990 02071971 whiplash
rainyday stafford nightmar 03051987 01051988 69camaro dragonfl stickman 03071986 sexybitch puppydog 5wr2i7h8 melanie1
apollo11 rockwell vfntvfnbrf eleonora alleycat ambrosia phialpha exchange lokiloki cartoons 02091973 01051986 contract
03011987 daisydog penetration 06041987 laetitia 03031990 02101978 mustang2 adrenalin goldeney luckyone 06031983 escalade
0192837465 fyutkjxtr 01011973 02071977 02081974 touching trinity1 04091986 charisma 07081986 rainbows 07091982 12345qaz
cleveland 02061979 08051987 cocksucker 03031993 10011988 10031989 10041990 10061984 10071985 11071989 11091984 11111986
12011985 12021985 12031988 12051989 12091988 12111990 12121989 12348765 14011987 14011988 14021989 14081988 14121989
15021983 15031988 15061988 15091988 15111984 16011987 16111982 18021987 18031991 19021990 19101986 19111986 20011988
20021985 20031986 20061986 20081986 21051986 21071987 21101989 22051986 22071983 23031987 23051987 23051991 24011987
24071987 24101986 24111990 25021988 26031986 26091986 26101986 26111985 27021991 27111985 28031982 28041992 28061986
28121984 29041985 30011986 30061987 31121987 31121988 369258147 05021988 dragster bismarck cambridg 1michael treefrog
123456789qwe 06071983 nounours speakers buttercup mallorca alexander1 normandy thumper1 02051979 playball 7777777a wonderful
benessere 01021985 smackdown 02051990 trumpet1 asdffdsa 03041987 favorite6 sexybabe cannibal beethove skipper1 02091971
01051990 nthvbyfnjh malaysia azertyuiop 02091982 rocknroll bynthytn 02011990 pavement 03051986 stockton 06061987 guillaum
10041991 10101989 10121985 10121986 11011989 11041991 11061989 11081988 11101986 12021991 12051987 13021987 13081985
14031989 14041987 14041992 14081990 14091990 15041987 15071983 15081990 15091989 16021987 17021987 17061991 18011988
18041991 18051987 18061991 18081988 18121984 19031987 19091990 20041990 20051989 20061984 21021987 21071992 21081985
22061985 22071990 22081991 22091986 22111985 23061992 23071985 23091987 23121986 24021988 24031987 24041988 24081988
25051985 25121985 26051986 26061986 26071987 27041985 28051985 28051990 28071987 30041991 30051989 30061983 30071986
30111987 789654123 jupiter1 segblue2 abcdefg1 paulpaul gannibal hallowee ticklish 07071985 offshore allison1 special1
02041973 amethyst letsdoit thrasher notredam candyass junkmail 09051986 06011988 volleyba liberty1 bettyboo 02061981
02011979 02101973 08011986 06061985 01051985 constant longhair 09081988 alcatraz 01021987 09091986 05021987 mynameis
08071988 sunshine1 04051985 powerful 04061984 sephiroth password01 02061972 computer1 1qazxsw23edc jesus123 05031991
sparkles skinhead sonysony pancakes charlie2 generals montecar 02061974 10011992 10061989 10071990 10081983 10081990
11041990 12071988 12071990 12081983 12081988 12091991 12101984 12101990 12121986 12121991 12211221 13071990 13101987
13121983 14041986 15031990 16031988 16071987 16071991 16091987 16121986 18111986 18121983 18121987 19061992 19091983
20051987 20061990 20101988 20121986 20121988 21031985 21121985 22011985 22051991 22071991 22121989 23031986 23051983
23091986 23111987 24071991 24101989 25081986 26071986 26071989 26101987 27021990 27031986 27061983 28061988 29031988
29061985 29061988 30011987 30031986 30031992 30091989 30121986 31031987 31051985 31101987 1234567899 sergbest 08111984
pathetic auckland 01041980 billbill capitals 02031990 pizzaman delpiero 09111987 1234rewq virginie 04111988 tampabay
1qazzaq1 playboy2 1million vampire1 playmate 08101986 dfcbkbcf istheman ilovepussy wonderboy montrose cassandra clemente
06031992 dreamcas 05051991 painting 04041987 01071984 zxcvb123 05011987 04061987 lockdown blacklab riffraff fidelity
05111986 08121987 frankie1 07071988 07051987 edmonton 07071982 pressure streaming supernova 02081973 05031990 08051989
justice1 09081985 07071984 02031991 01021992 babycake fuckme69 frederik motocros 01101987 rustydog pinetree 07101987
10031990 10031993 10041987 10051990 10061985 10071986 10091984 11031983 11051988 11071987 12071991 12081987 12081990
12111985 12111991 12131213 13021985 13061985 13071987 14101986 15011983 15061985 15081986 15091985 15111989 15121987
16061987 16061988 16081986 16091988 17021989 17051987 17051989 17051990 18011985 18021992 18031988 18051989 18101985
19021991 19061991 20041985 20061983 20071988 21031984 21061988 22011992 22031986 22051987 22051989 22061984 22071984
22071985 22091991 23061989 23091985 23091989 23111989 24091991 24121987 25031983 25031991 25041991 25051987 25061987
25081985 26081986 27021992 27031992 27111989 28011988 28081986 28081990 28101986 29011982 29061986 29091987 30011990
30051987 31051993 31071990 44332211 66613666 1234509876 feelgood tigercat citation sunlight 02061971 bigtruck 06061981
kingking trooper1 papamama jefferson elements 02031974 02051970 123456as 07071989 password99 popcorn1 04041986 08021990
02021978 05121990 03091983 06021986 02011977 01081985 04071986 01091992 09051987 07041987 francine 05031987 revoluti
sniffing chouchou usmarine 03051988 01121990 09091988 01081992 02041972 07101984 07021991 03041983 123456qqq 08081990
03031992 left4dead england1 conquest delldell lol12345 01011972 02061978 07081987 gogators cashmoney 09041986 04071988
02011976 07091988 10021986 10021987 10051988 10081987 10091986 10101980 10101988 11081986 11091985 11091986 12021984
12031990 12061987 12071984 12101989 13031989 13051990 13061991 13071985 13071989 13091984 13101982 13101988
`;

let passwords: ReadonlySet<string> | undefined;

/** True if a password is in the list; upper and lower case are the same. */
export function isCommonPassword(password: string): boolean {
  passwords ??= new Set(commonWords.trim().split(/\s/));
  return passwords.has(password.toLowerCase());
}
