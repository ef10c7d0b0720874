package command

import "testing"

func TestSetOptionsAnswerAsRedis(t *testing.T) {
	h := newHarness(t)
	h.check(`
		set k v ex 10 ex 20 => +OK
		set k v ex 10 px 20 => -ERR syntax error
		set k v nx xx => -ERR syntax error
		set k v nx nx => $-1
		set k v get get => $1 v
		set k v keepttl ex 10 => -ERR syntax error
		set k v keepttl KEEPTTL => +OK
		set k v ex => -ERR syntax error
		set k v ex 0 => -ERR invalid expire time in 'set' command
		set k v px -1 => -ERR invalid expire time in 'set' command
		set k v ex abc => -ERR value is not an integer or out of range
		set k v ex 9223372036854775807 => -ERR invalid expire time in 'set' command
		set k v px 9223372036854775807 => -ERR invalid expire time in 'set' command
		set k v exat 9223372036854775 => +OK
		set k v persist => -ERR syntax error
		set k w nx get => $1 v
		set n v nx get => $-1
		set n w xx get => $1 v
		set none v xx => $-1
		set none v xx ex abc => -ERR value is not an integer or out of range
		rpush l a => :1
		set l v get => -WRONGTYPE Operation against a key holding the wrong kind of value
		set l v get ex 0 => -ERR invalid expire time in 'set' command
		set l v => +OK
		get l => $1 v
	`)
}

func TestGetexAnswersAsRedis(t *testing.T) {
	h := newHarness(t)
	h.check(`
		set k v => +OK
		getex k => $1 v
		getex k ex 10 => $1 v
		getex k persist => $1 v
		getex k px 10 persist => -ERR syntax error
		getex k keepttl => -ERR syntax error
		getex k nx => -ERR syntax error
		getex k ex 0 => -ERR invalid expire time in 'getex' command
		getex k exat 1 => $1 v
		get k => $-1
		getex none foo => -ERR syntax error
		getex none ex abc => $-1
	`)
}

func TestSetexGetsetAndMsetAnswerAsRedis(t *testing.T) {
	h := newHarness(t)
	h.check(`
		setex k 0 v => -ERR invalid expire time in 'setex' command
		setex k abc v => -ERR value is not an integer or out of range
		psetex k -1 v => -ERR invalid expire time in 'psetex' command
		setex k 10 v => +OK
		setnx k w => :0
		setnx n w => :1
		getset k x => $1 v
		getset none y => $-1
		getdel k => $1 x
		getdel k => $-1
		mset a => -ERR wrong number of arguments for 'mset' command
		mset a 1 b => -ERR wrong number of arguments for 'mset' command
		mset a 1 b 2 a 3 => +OK
		mget a b none => *3 $1 3 $1 2 $1 y
		msetnx a 1 new 2 => :0
		msetnx new 2 newer 3 => :1
		msetnx x => -ERR wrong number of arguments for 'msetnx' command
	`)
}

func TestAppendGetrangeAndSetrangeAnswerAsRedis(t *testing.T) {
	h := newHarness(t)
	h.check(`
		append a 12 => :2
		append a 34 => :4
		strlen a => :4
		strlen none => :0
		getrange a 0 -1 => $4 1234
		getrange a -2 -1 => $2 34
		getrange a 2 1 => $0
		getrange a -1 -3 => $0
		getrange a 0 100 => $4 1234
		getrange a -100 1 => $2 12
		substr a 1 2 => $2 23
		getrange none 0 1 => $0
		getrange a x 1 => -ERR value is not an integer or out of range
		setrange a -1 v => -ERR offset is out of range
		setrange a x v => -ERR value is not an integer or out of range
		setrange a 536870911 vv => -ERR string exceeds maximum allowed size (proto-max-bulk-len)
		setrange a 1 '' => :4
		setrange none 3 '' => :0
		setrange a 6 z => :7
		strlen a => :7
		setrange b 2 z => :3
		strlen b => :3
	`)
}

func TestIncrCommandsAnswerAsRedis(t *testing.T) {
	h := newHarness(t)
	h.check(`
		incr i => :1
		incrby i 41 => :42
		decr i => :41
		decrby i 1 => :40
		incrby i x => -ERR value is not an integer or out of range
		decrby i -9223372036854775808 => -ERR decrement would overflow
		set i 9223372036854775807 => +OK
		incr i => -ERR increment or decrement would overflow
		decrby i -1 => -ERR increment or decrement would overflow
		set i 1.5 => +OK
		incr i => -ERR value is not an integer or out of range
		incrbyfloat i 0.1 => $3 1.6
		incrbyfloat i 1e2 => $5 101.6
		set f 3.0e3 => +OK
		incrbyfloat f 200 => $4 3200
		set f 10.5 => +OK
		incrbyfloat f 0.1 => $4 10.6
		incrbyfloat f -5 => $3 5.6
		set f 5.0e-1 => +OK
		incrbyfloat f 0 => $3 0.5
		incrbyfloat f 1e-17 => $19 0.50000000000000001
		incrbyfloat f 1e-18 => $19 0.50000000000000001
		incrbyfloat g 0x1p-3 => $5 0.125
		incrbyfloat g -0.125 => $1 0
		incrbyfloat g inf => -ERR increment would produce NaN or Infinity
		incrbyfloat g nan => -ERR value is not a valid float
		incrbyfloat g x => -ERR value is not a valid float
		incrbyfloat g 1e4900 => $4901 10000000000000000000270831223069034983322405250407883434650293011195902851726069266663704823041437489765520184376609062631997172976525117963202031391265252279271119708787269826453053244263010954912984273628019691913024261510122813318819385382698312136615906114835135436447280759093121804538749093593096715033623108501512603469688306855358169180238837163512800361557729916609767572378087712649590990247923374282633947102606880607043307562944953081918355031543497380027186265886940000902202860296719746398012688182980428220244993013294082436120708749482950238583525809483630401187625035966120680265965056786617624606398790236680049198040034195065715137085444658551780525331019546918469995551931276148257208047970284042059537736901765125937603916727782210687556038530910165038299848265279233548286544348234280154587739085944428210589014757793736606631597523101481032088848205965624827760776336158935979452431400244357514926063098913010355044317796638076934105073563233858391257589019013646262931628794735505764711108856561119254463151984361877861882004630442972390848487958357917807545670136833421292337938902931128638699601580412291741600880623354900518315246108426617654312900401641495926147364524045428963018259120057401908735822348976738163634971951071548718874721731127946581453849592456701491623856562803628559949723649349166888421284769905276126620759894130044927644720138752084181183558325424221309356654877895471163372112278415979384376680201930939577198469360942640136280001393633889148368912784592857253679065115618472148351150787888328289169690063010021191422795079047221140339254946606253749818575885407977588844451830663575246871331235755638008227550065896728369642182435493007752369185569931254437322092196281790707844553842194180025902748742933076861649086543885961269736776632392501394091838485895240714525357382384873399414633541620930923307416570743742075643883391876310958075940998557382648505520896511558788522677445345511240658135142964028222788876444936053458442192929156533489490733757252792269147324232837973739643090852300868703740729583801445077216209149653458469660515743689323684260295629854559409530706087039750642178623689255363216349146860198268138101194040960229489219904263868253068757898257681983945190759469754643953355915360470075069625235536232266221985274014321256681874552840226511653468456627386836146064028052325124205985004432866969215962990037457602710429817700662927601437154094526130931936370412559277512954352690866738867373938249114747139519249545931880659327128266231116939219689700351784002529826750592598790175154100554661001606765822718131889291468650828100758265566759744134621449984736427225863192204064186033343140983862371325838368135023306416494059069588830091962621584758754429802363641694368010270840608629566975987668204683936857443399699764844520780561578433966769123128680766675397294287201985043261031803162787261265751358818826716061666082571967819986837137052750846301123619371928606691678616995654134901149492722574702499461905788411869221356479059870287959605867233833472092517914190680947060696489624545860063518372315922856168980824614148273662519737323819777732558014216824588527959491385170094178947525242178415226256725461157182246880867589340772800304792110788566447466293092158138400395072911410368917060374838017868200397689639730583681576171767633811586665088993651679460145754909757890532942391979836214064866456917714707657157610164925750250946387740242484766983085234541530168482039581394641664980806222749411287452181275016093576082592222070717808307638020345099358919883588550546150944244377336759284279541033906586078180402497527222868768830182483033394041625688545500851259877461153887868315818393146108689383225517692653129942550413210472873028898459800118785450790041718420680135984765199248444493390013313083205234660092642416700990282980355308700580038770475868792342805361286445145659614816223893590003391709468314120518861600021170257755379238967085391711854752759249525377302813529840556631590392223598961493447480578930037043758049419306606631405662760520763139265101058092582641983125081098134309376440387759449589651688109741588092642960738897949747157132121720553596126205164142643644166898976510745641373390942738418210928593351162387103430972243796725328908401814508372151321180749639267395278964289324152039882780532561065350602906015315306445589864860795901357128093083447568983584579184945611210446233756901900158085990642591178296721326538974460539555506979794797823070810843208621713476377963240847368429354372212723265876743990691037014671683629590907548235582708738912737087484253282598759397084670414414047195602727673561428613865643208577198851397714095718009014679806549715894722976573348970315761730707883509990618589077700750096416237142864117646073907478979494140842832821710775991520265006615586843958551097870944259023193419495678862676183474643010407743254743635952246225341116846746313424896
		set t x => +OK
		incrbyfloat t 1 => -ERR value is not a valid float
	`)
}

func TestLCSAnswersAsRedis(t *testing.T) {
	h := newHarness(t)
	h.check(`
		set a ohmytext => +OK
		set b mynewtext => +OK
		lcs a b => $6 mytext
		lcs a b len => :6
		lcs a b idx => *4 $7 matches *2 *2 *2 :4 :7 *2 :5 :8 *2 *2 :2 :3 *2 :0 :1 $3 len :6
		lcs a b idx minmatchlen 4 => *4 $7 matches *1 *2 *2 :4 :7 *2 :5 :8 $3 len :6
		lcs a b IDX withmatchlen minmatchlen -1 => *4 $7 matches *2 *3 *2 :4 :7 *2 :5 :8 :4 *3 *2 :2 :3 *2 :0 :1 :2 $3 len :6
		lcs a none => $0
		lcs a none idx => *4 $7 matches *0 $3 len :0
		lcs a b len idx => -ERR If you want both the length and indexes, please just use IDX.
		lcs a b minmatchlen => -ERR syntax error
		lcs a b idx minmatchlen x => -ERR value is not an integer or out of range
		lcs a b foo => -ERR syntax error
	`)
}

func TestStringAnswersInRESP3(t *testing.T) {
	h := newHarness(t)
	h.ctx.Proto = 3
	h.check(`
		set a ohmytext => +OK
		set b mynewtext => +OK
		lcs a b idx withmatchlen => %2 $7 matches *2 *3 *2 :4 :7 *2 :5 :8 :4 *3 *2 :2 :3 *2 :0 :1 :2 $3 len :6
		set a v xx get => $8 ohmytext
		get none => _
		mget a none => *2 $1 v _
	`)
}

func TestStringCommandsCheckTheirArgumentsInTheOrderOfRedis(t *testing.T) {
	h := newHarness(t)
	h.check(`
		rpush k a => :1
		append k x => -WRONGTYPE Operation against a key holding the wrong kind of value
		decr k => -WRONGTYPE Operation against a key holding the wrong kind of value
		getdel k => -WRONGTYPE Operation against a key holding the wrong kind of value
		getex k => -WRONGTYPE Operation against a key holding the wrong kind of value
		getrange k 0 1 => -WRONGTYPE Operation against a key holding the wrong kind of value
		getset k x => -WRONGTYPE Operation against a key holding the wrong kind of value
		incr k => -WRONGTYPE Operation against a key holding the wrong kind of value
		incrby k 1 => -WRONGTYPE Operation against a key holding the wrong kind of value
		incrby k x => -ERR value is not an integer or out of range
		incrbyfloat k 1 => -WRONGTYPE Operation against a key holding the wrong kind of value
		incrbyfloat k x => -WRONGTYPE Operation against a key holding the wrong kind of value
		lcs k k foo => -ERR The specified keys must contain string values
		setrange k 0 x => -WRONGTYPE Operation against a key holding the wrong kind of value
		setrange k 0 '' => -WRONGTYPE Operation against a key holding the wrong kind of value
		setrange k -1 x => -ERR offset is out of range
		strlen k => -WRONGTYPE Operation against a key holding the wrong kind of value
		get k => -WRONGTYPE Operation against a key holding the wrong kind of value
		mget k => *1 $-1
		setnx k v => :0
		msetnx k v => :0
	`)
}
