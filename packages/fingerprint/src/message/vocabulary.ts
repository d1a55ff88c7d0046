/** The vocabulary of errors. A single other word among these is data: the name of a plan, a drug, a colour. */
const stems = new Set(
  // Small words.
  (
    'a about above abov across after again against ago all allow almost alone along already also although always am among an and another any anymore anyone anything anywher anywhere are aren around as at away back be became because become been before behind being below between beyond both but by came can cannot cant come could couldn did didn do does doesn don done down during each either else enough even ever every everything except far few first for forever former four five from further get go gone got had hadn half has hasn have haven he hence her here him his how however i if in inside instead into is isn it its itself just last later least less let like little long longer lot made make many may maybe me mean meanwhile might more most much must my near nearly neither never next nine no nobody none nor not nothing now nowhere null of off often on once one only onto or other otherwise our out outside over own per perhaps please put quite rather really same see self seven several shall she should shouldn since six so some someone something sometime soon still such take ten than that the their them themself then there therefore these they thing this those though three through thus to today together tomorrow too took toward twice two under undefin undefined unless until up upon us use very via was wasn we well went were weren what whatever when where whether which while who whole whom whose why will with within without won would wouldn yes yesterday yet you your zero ' +
    // Failures.
    'abandon abort absent activ paid abuse accept access accident acknowledg acquir act activat add adjust advanc affect agree alert alias alloc allocat amend answer appear append apply appli approv ask assert assign assum attach attempt authenticat authoriz authoris avail avoid await ban balanc bad begin belong bind block book bounc break broke broken build built buffer busy calculat call cancel capabl captur carry catch caught caus chang charg check choos chosen claim clash clean clear close clos collid collaps collect combin commit compar compil complet compos comput configur confirm conflict connect consist construct consum contact contain continu control convert copy copi correct corrupt could count coupl crash creat cross cut cycl damag deadlock deal decid declar declin decod decrypt default defer defin delay delet deliver demand den deni depend deploy deprecat describ deserializ destroy detach detect determin develop differ disabl disallow discard disconnect dismiss dispatch display dispos divid doubl download drift drop duplicat duplic emit empti empty enabl encod encount encrypt end enforc engag enqueu ensur enter equal err error escap establish estimat evaluat evict exact exceed exclud execut exhaust exist exit expect expir explain export expos extend extract fail failur fals false fall fault fetch fill filter final find finish fire fit fix flag flood flush follow forbid forbidden forc forget forgot fork format forward found free freez frozen full function gain garbl gather generat give given grant group grow guess hand handl hang happen hash head held help hidden hide hit hold ignor illegal impli implement import improper inactiv inclu includ incompatibl incomplet inconsistent incorrect increas index indicat inherit initializ initialis initiat inject insert inspect install instanc insufficient intend interact intern interpret interrupt introduc invalid invok issu iterabl iterat join keep kept kill know known lack land larg larger late latest launch lead leak leav left legal link list listen live liv load local locat lock log lose lost low lower maintain malform manag mandatory map mark match maximum measur meet merg migrat minimum miss mistak mismatch mix modif modifi move mov multipl mutat nam need negativ nest normal notic notif notifi number obey obsolet obtain occur odd offer offlin old omit onlin open operat optional order overdraw overdue overflow overlap overload overrid overrun overwrit pack park pars partial pass past paus pay pend perform permanent permit pick place plan point poll pop populat posit positiv possibl post prepar present preserv prevent previous print process produc prohibit promis proper protect prov provid publish pull purg push queri quer queu rais random rang reach read ready realiz reason rebuild receiv recogniz recognis reconnect record recover recurs redirect reduc refer refresh refund refus regist register reject relat releas remain remot remov renam render renew repeat replac repli reply report represent request requir reset resiz resolv respect respond respons restart restor restrict result resum retri retriev retry return reus revers revert review revok rewrit right roll rollback rout run safe sav scan schedul seal search seek select send sent separat serializ serialis serv set settl setup shap shar ship short show shut shutdown sign signal simultaneous singl siz skip slow small smaller solv sort specif specifi spent split stack stal stale stall start stat stay step stop stor straight strict submit subscrib succeed success successful suggest suitabl supersed suppli supply support suppos surpass suspend switch synchroniz sync synthesiz target temporary temporarily temporari terminat test threw throttl throw thrown tie timeout toggl tolerat touch track transfer transform transit translat treat tri trigger tripl truncat trust try turn typ unabl unacceptabl unassign unauthoriz unauthorized unauthoris unavailabl unavail unchang unclos undefin undeclar undo unequal unexpect unhandl uniqu unique unknown unlink unlock unmatch unpack unpaid unparsabl unprocessabl unreachabl unread unrecogniz unrecognis unregister unresolv unsafe unset unsign unstabl unsupport unsubscrib unterminat until unus unusabl unverifi updat upgrad upload use usabl usag vacat valid validat valu vanish vari verif verifi violat visibl visit wait wake want warn watch weak withdraw withdrawn work wrap writ write written wrong yield ' +
    // Software.
    'csv tsv xls xlsx excel spreadsheet xml yaml yml toml ndjson jsonl parquet avro edi abi account action inbox outbox welcom actor adapter address admin agent algorithm ancestor anchor annotation api app application arg argument array artifact aspect asset async attribut attribute audience audit auth author authentication authority authorization avatar backend backup base batch bearer bigint binary bit blob block board body boolean boot border boundary bound bracket branch bridg broker browser bucket bug bundle byte cach cache capacity case cast catalog category certificat certificate chain channel char character checkpoint checksum child children chunk cipher circuit circular class clause cli client clock cloud cluster code codec collection column comma command comment commit compiler component compression concurrency concurrent condition config configuration connection console constant constraint constructor consumer container content context conversation cookie core cors count counter credential cron cross crypto cursor custom daemon dashboard data databas database dataset date datetime day deadline decimal declaration decimal deep delegat delimiter dependency dependenci depth descriptor destination detail device diagram dictionary diff digest digit dimension directive directory directori disk distinct dns document domain domain draft driver dump duration dynamic edge editor element email encoding endpoint engin engine entity entiti entry entri enum environment epoch escape event exception exchang exchange executor expression extension external factory feature feed field file filename filesystem firewall firmware fixture flow folder font foreign form fraction fragment frame framework frontend gateway generator global gram graph guard guest handler handshake handle hardware header heap hex history hook host hostname hour http https id identifier identity image index info inode input install instance instruction int integer interface interval iterable iterator job journal json jwt kernel key keyword kind label lambda language latency layer layout leader lease ledger length letter level library librari licens license limit line listener literal loader locale location lookup loop machine mailbox main manager manifest markup mask master math media member memory message metadata method metric middleware migration milliseconds mime minute mirror mode model module monitor month mount mutex name namespace native nested network node non nonce nullable numeric oauth object objects offset operand operation operator option origin origin outbox output overhead owner package page pagination pair panel param parameter parent parser part partition password patch path pattern payload peer percent permission phase phone pid pipe pipeline pixel placeholder platform plugin pod pointer policy pool port position postcode precision prefix primary primitive principal priority private privileg procedure producer product profile program progress project promise prompt proof property properti protocol prototype provider proxy public quer query queue quota quote rate reader realm receiver reference referenc regex region regular relation relay replica replication repository repositori resolver resource response revision role root route router row rule runner runtime sample sandbox scalar schema scope screen script seat secret section sector security segment sensor sentinel separator sequence serial series server servic service session setting setup shard sheet shell signature size slice slot snapshot socket software source space spec specification stage standard state statement static status storage stored strategy stream string structur structure style subject subnet subquery subset suffix suite syntax system tab table tag task team template tenant term terminal text thread threshold throughput ticket time timer timestamp timezone tls title token tool topic total trace traffic transaction transport tree trigger tunnel tuple type union unit update upstream uri url usage user username utf uuid value variable variabl variant vector vendor version view volume wallet warehouse webhook week width window word worker workflow workspace wrapper writer year zone ' +
    // Business, and the objects that tasks work on.
    'surgery research age bay clip clon driven drive gav gave licence licens ref said say says scheme second seconds sleep taken tall timespan transcod unblock wid invariant idle pressure pump preview legacy radix decompress born spread symbol depot float bestow ' +
    'activity addres addressee agency agreement alarm album allowance amount analyser analysis appointment approval article asset assignee attachment attendance attendee auction authorisation available bag bank bar basket bed bill billing birth birthday bonus booking box budget bus business buyer calendar campaign capital car card cargo carrier cart cash category cell cent chapter chart check city claim clinic color colour commission company companies compliance consent contact contract convers copy cost country coupon course courier credit creditor crew currency customer customs daily damage dealer debit debt delivery department departure deposit diagnosis discount dispute distance doctor dose driver drug due duty earnings employee employer equipment exam expense face fare fee film fleet flight flow fleet form freight friend fuel fund gate gift goal good goods grade guarantee guest health height holiday home hotel household income installment instalment insurance insurer interest inventory invoice item journey label leg lesson letter listing loan log lot luggage machine mail manufacturer margin market match material meal measurement medicine meeting member menu merchant meter mileage milestone mobile money mortgage nation net note notification nurse offer office officer order organisation organization outlet outstanding overdraft owed owner package page pallet paper parcel parking participant partner party passenger passport patient pay payee payer payment payout payroll penalty period person pharmacy phone photo physician pickup picture player portfolio premium prescription price printer prize product profit promotion provision purchase quantity question rating receipt recipient record refund registration reminder rent rental repair replacement reservation residence resident revenue reward ride road room round safety salary sale sales sampl scale school score season seat seller sender shareholder shelf shift shipment shipper shipping shop signer skill slot song speed spend sponsor staff stake statement station stock stop store street student subscription sum summary supplier supply surcharge survey talk tariff tax teacher temperature ticket title tour trade train transfer transit travel tray trip truck turnover utility vacancy vehicle venue vessel video visa visit visitor voucher voyage wage ward warranty waste weight wheel wholesale winner zip ' +
    // How much, how and when.
    'absolute abnormal actual additional almost ambiguous anonymous apparent appropriate approximately arbitrary automatic automatically average basic big blank brief certain cheap chief common complex current currently deep different difficult direct directly distinct double early easily empty entire equal especially essential eventual exactly explicit explicitly expensive extra extreme fast finite forward fresh future general great greater green hard heavy hidden high higher hot huge identical immediate immediately important impossible individual infinite initial insecure insufficient intermediate internally invisible irregular joint large least likely limited logical loose major manual manually maximum minimal minimum minor missing mutual natural necessary new nonexistent normally obvious obsolete official old ordinary original overall overdue parallel particular particularly plain plural possible potential precise preferred premature preliminary pristine proper properly public quick quickly rare raw readable real recent recently redundant relative relevant reliable reserved responsible rough secondary secure sensible sensitive separate serious shallow sharp significant similar simple slightly slowly special specific stable standalone strong subsequent sudden sufficient surplus temporary tight tiny top transient true typical ultimate unable uncommon unfinished unfortunately unlimited unnecessary unrelated upper urgent useful useless usual vague valid variable wide worse worst writable wrongly young'
  ).split(' '),
);

const endings = [
  'ations',
  'ation',
  'ings',
  'ing',
  'edly',
  'ions',
  'ion',
  'ies',
  'ied',
  'able',
  'ably',
  'ible',
  'ment',
  'ments',
  'ness',
  'ally',
  'ers',
  'er',
  'ed',
  'es',
  'ly',
  'al',
  's',
  'd',
  'e',
  'y',
];

/** True for a word of the vocabulary, in any of its usual forms. */
export function isErrorWord(word: string): boolean {
  if (word.length > 30) return false;
  const lower = word.toLowerCase();
  const seen = known.get(lower);
  if (seen !== undefined) return seen;
  const found = hasStem(lower);
  if (known.size >= 20_000) known.clear();
  known.set(lower, found);
  return found;
}

/** Results of earlier look-ups. Cleared when it is full. */
const known = new Map<string, boolean>();

function hasStem(lower: string): boolean {
  if (stems.has(lower)) return true;
  for (const ending of endings) {
    if (lower.length - ending.length < 3 || !lower.endsWith(ending)) continue;
    const stem = lower.slice(0, -ending.length);
    if (stems.has(stem)) return true;
    // `dropped`, `begging`: the last letter doubled.
    if (stem.length > 3 && stem.at(-1) === stem.at(-2) && stems.has(stem.slice(0, -1))) return true;
  }
  return false;
}

// In capitals too, apart from system codes and signals: "Depot QUYW is full".
const bareWord = /^\(?(\p{L}\p{Ll}+(?:['’-]\p{L}?\p{Ll}+)?|(?!E[A-Z]{3}|SIG)\p{Lu}{2,8})[),;:!?.]{0,2}$/u;
const naming =
  /(?:^|[\s(])(?:column|field|fields|property|prop|relation|table|constraint|key|keys|index|schema|function|method|operator|parameter|param|argument|option|variable|header|attribute|module|package|plugin|missing|required|need|needs|requires|import|export|named|scope|permission|feature|flag|rule|setting|reading|event|code|type|status|reason|error|provider|service|gateway|integration|connector|strategy|policy|template|adapter|engine)[:=]? ?$/i;
const spoken =
  / is not (?:defined|a function|a constructor|iterable)|before initialization|has already been declared|assignment to constant/i;

/**
 * Removes bare data: words outside the vocabulary of errors, in a message where most words are in it. In another language, or where most
 * words are names, nothing is removed. A word that follows one of `naming` is a name, and stays.
 */
export function withoutBareData(text: string): string {
  const parts = text.split(' ');
  if (parts.length < 3 || spoken.test(text)) return text;
  let familiar = 0;
  const unknown: number[] = [];
  for (const [at, part] of parts.entries()) {
    const word = bareWord.exec(part)?.[1];
    if (word === undefined) continue;
    if (isErrorWord(word) || (word.includes('-') && word.split('-').every(isErrorWord))) familiar += 1;
    else if (at > 0 && !naming.test(`${parts[at - 2] ?? ''} ${parts[at - 1] ?? ''} `)) unknown.push(at);
  }
  if (unknown.length === 0 || familiar < 2 || unknown.length > familiar) return text;
  for (const at of unknown) parts[at] = (parts[at] ?? '').replace(/[\p{L}'’-]+/u, '<>');
  return parts.join(' ');
}
