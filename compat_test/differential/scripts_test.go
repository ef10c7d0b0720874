package differential

import (
	"crypto/sha1"
	"encoding/hex"
)

// border is a script that carries a value from Lua to the client, or from the client to
// Lua and back. With luaText its error holds Lua's own message.
type border struct {
	source  string
	luaText bool
}

func plainScripts() []string {
	return []string{
		// Left out: error({}), which ends redis-server 7.0.15 by signal 11.
		"return 1", "return 3.99", "return -3.99", "return 1e15", "return 2^53", "return 0/0",
		"return 1/0", "return -1/0", "return 9007199254740993",
		"return true", "return false", "return nil", "return", "return 'x'", "return ''",
		"return 'a\\0b\\r\\n'", "return {}", "return {1,2,3}",
		"return {1,nil,3}", "return {1,{2,{3,'x'}},true,false}", "return {'a',false,'b'}",
		"return {1.5,-1.5,'1.5'}", "return {[1]='a',[3]='c'}",
		"return {a=1}", "return {ok='fine'}", "return {err='ERR bad'}", "return {err='x y'}",
		"return {err='oneword'}", "return {err='-MINE text'}",
		"return {ok=1}", "return {err=1}", "return {ok='a\\r\\nb'}", "return {err='a\\r\\nb'}",
		"return {{ok='in'},{err='ERR in'}}", "return function() end", "return {function() end}",
		// Tables with a RESP3 type.
		"return {double=3.1}", "return {double='3.1'}", "return {double=1e20}", "return {double=1/0}",
		"return {map={a=1}}", "return {map={}}", "return {set={x=true}}", "return {set={}}",
		"return {big_number='12345678901234567890'}",
		"return {verbatim_string={format='txt',string='hello'}}",
		"return {verbatim_string={format='markdown',string='hello'}}",
		"redis.setresp(3) return {double=3.1}", "redis.setresp(3) return true",
		"redis.setresp(3) return false", "redis.setresp(3) return {map={k='v'}}",
		"redis.setresp(3) return redis.call('GET','missing')",
		"redis.setresp(2) return redis.call('GET','missing')", "return redis.setresp(4)",
		"return redis.setresp()",
		"redis.setresp(3) redis.call('ZADD','z0',1.5,'a') return redis.call('ZSCORE','z0','a')",
		"redis.setresp(3) return type(redis.call('GET','missing'))",
		"return type(redis.call('GET','missing'))",
		"redis.setresp(3) redis.call('ZADD','z0',1.5,'a') return redis.call('ZSCORE','z0','a').double * 2",
		"redis.setresp(3) redis.call('DEL','h0') redis.call('HSET','h0','f','v') return redis.call('HGETALL','h0').map.f",
		// Helpers of redis.*.
		"return redis.error_reply('one')", "return redis.error_reply('two words')",
		"return redis.error_reply('-DASH it')", "return redis.error_reply('')",
		"return redis.error_reply()", "return redis.error_reply(1)",
		"return redis.error_reply(ARGV[1])", "return redis.status_reply(ARGV[1])",
		"return redis.status_reply('fine')", "return redis.status_reply('')",
		"return redis.status_reply()", "return redis.sha1hex('')", "return redis.sha1hex(ARGV[1])",
		"return redis.sha1hex()", "return redis.sha1hex('a','b')",
		"return redis.log(redis.LOG_DEBUG,'x')", "return redis.log('x')", "return redis.log(9,'x')",
		"return {redis.LOG_DEBUG,redis.LOG_VERBOSE,redis.LOG_NOTICE,redis.LOG_WARNING}",
		"return redis.replicate_commands()", "return redis.set_repl(redis.REPL_ALL)",
		"return redis.set_repl(77)", "return redis.set_repl()",
		"return {redis.REPL_NONE,redis.REPL_AOF,redis.REPL_SLAVE,redis.REPL_REPLICA,redis.REPL_ALL}",
		"return redis.REDIS_VERSION", "return redis.REDIS_VERSION_NUM",
		"return redis.acl_check_cmd('GET','a')", "return redis.acl_check_cmd('NOSUCH','a')",
		"return redis.acl_check_cmd()",
		"return redis.breakpoint()", "return redis.debug('x')",
		// Numbers as arguments of commands.
		"redis.call('SET','s0',0.1) return redis.call('GET','s0')",
		"redis.call('SET','s0',1e15) return redis.call('GET','s0')",
		"redis.call('SET','s0',2^53) return redis.call('GET','s0')",
		"redis.call('SET','s0',2^63) return redis.call('GET','s0')",
		"redis.call('SET','s0',1/3) return redis.call('GET','s0')",
		"redis.call('SET','s0',-0.0) return redis.call('GET','s0')",
		"redis.call('SET','s0',100000000000000000000) return redis.call('GET','s0')",
		"redis.call('SET','s0',1/0) return redis.call('GET','s0')",
		"redis.call('SET','s0',123456789012345678) return redis.call('GET','s0')",
		"redis.call('SET','s0',3.0) return redis.call('GET','s0')", "return redis.call('SET','s0',{})",
		"return redis.call('SET','s0',nil)", "return redis.call('SET','s0',true)", "return redis.call()",
		"return redis.pcall()",
		"return redis.call('NOSUCH')", "return redis.call('GET')", "return redis.pcall('GET')",
		"return redis.pcall('NOSUCH')", "return redis.call('SUBSCRIBE','x')",
		"return redis.call('MULTI')", "return redis.call('EVAL','return 1',0)",
		"return redis.call('BLPOP','missing',0)", "return redis.call('INCR','l0')",
		"local r = redis.pcall('INCR','l0') return r",
		"local r = redis.pcall('LPUSH','s0','a') return type(r)",
		"return redis.pcall('SET','s0')['err']", "return redis.call('GET', KEYS[1])",
		"return redis.call('ECHO', 'x')", "return redis.call('PING')", "return redis.call('PING')['ok']",
		"return redis.call('TIME')[3]",
		"return redis.call('select', 1)", "redis.call('select', 1) return redis.call('set', 's0', 'in1')",
		"return redis.call('WATCH', 'a')", "return redis.call('CONFIG', 'GET', 'nothing')",
		"return redis.call('client', 'reply', 'on')",
		// Conversions and the standard library.
		"return tostring(1e15)", "return tostring(0.1)", "return tostring(1e100)", "return tostring(1/0)",
		"return tostring(-1/0)", "return tostring(2^53)", "return 1 .. ''", "return 0.1 .. ''",
		"return 1e16 .. ''", "return tostring(3.0)", "return tostring(-0.0)",
		"return tonumber('10')", "return tonumber('0x10')", "return tonumber('1e1')",
		"return tonumber(' 10 ')", "return tonumber('abc')", "return tonumber('10',2)",
		"return tonumber('z',36)", "return tonumber(ARGV[1])", "return ARGV[1]", "return #ARGV",
		"return #ARGV[1]", "return {KEYS,ARGV}",
		"return ARGV[2]", "return math.floor(3.7)", "return math.max(1,5,3)", "return math.huge",
		"return string.format('%d',3)", "return string.format('%.14g',0.1)",
		"return string.format('%5.2f|%-5s|%05d',3.14159,'ab',42)", "return string.format('%q','a\\nb\"')",
		"return string.format('%x',255)", "return string.format('%s',nil)",
		"return string.rep('ab',3)", "return string.sub('hello',2,-2)", "return string.upper('abc')",
		"return string.byte('A')", "return string.char(65,66)", "return string.reverse('abc')",
		"return {string.find('hello','l')}", "return {string.find('a.b','.',1,true)}",
		"return string.gsub('hello','l','L')", "return {string.match('key=val','(%w+)=(%w+)')}",
		"local t = {} for w in string.gmatch('a b c','%a') do t[#t+1]=w end return t",
		"return table.concat({1,2,3},',')", "return table.concat({1.5,'x'},'-')",
		"local t={3,1,2} table.sort(t) return t",
		"local t={3,1,2} table.sort(t,function(a,b) return a>b end) return t",
		"local t={1,2} table.insert(t,3) table.insert(t,1,0) return t",
		"local t={1,2,3} return table.remove(t)",
		"return table.getn({1,2})", "return table.maxn({1,2,[10]=3})", "return select('#',1,nil,3)",
		"return select(2,'a','b')", "return {unpack({1,2,3},2)}", "return math.mod(7,3)", "return 7 % 3",
		"return -7 % 3", "return 2^10", "return 10/4", "return #'abc'", "return 'a' < 'b'",
		"return 1 == '1'", "return not nil",
		"for c=tonumber('3'),1,-1 do end return 1", "local s=0 for c='3',1,-1 do s=s+c end return s",
		"local s=0 for i=1,10,3 do s=s+i end return s", "local goto = 1 return goto", "return type(nil)",
		"return type(print)", "return type(os)", "return type(os.clock)", "return type(io)",
		"return type(require)", "return type(loadstring)", "return type(string.dump)",
		"return loadstring('return 1+1')()", "return next({})", "return rawget({a=1},'a')",
		"return rawequal(1,1)",
		"return math.abs(-5)", "return math.fmod(7,3)", "return string.len('a\\0b')",
		"return ('x'):rep(3)", "return _VERSION", "return type(_G)",
		"return xpcall(function() error('x') end, function(e) return 'handled' end)",
		"return {pcall(function() return 1,2 end)}", "return {pcall(error,{code=1})}",
		"return {pcall(error,'msg',0)}", "return tostring(nil) .. tostring(true)",
		"local t = setmetatable({},{__index=function(t,k) return k end}) return t.abc",
		"local t = setmetatable({1,2},{__call=function(self,a) return a end}) return t(5)",
		"return getmetatable('').__index == string",
		"return (function(...) return select('#',...) end)(1,2,3)",
		"return coroutine.wrap(function() coroutine.yield(5) end)()",
		"local co = coroutine.create(function(a) return a end) return {coroutine.resume(co,7)}",
		// Globals.
		"x = 1", "return x", "return undefined_global", "function f() end", "_G.x = 1", "redis = 1",
		"redis.call = 1", "string.x = 1", "KEYS = {}", "ARGV[1] = 'changed' return ARGV[1]",
		"return rawset(_G,'x',1)", "setmetatable(_G,{})", "getmetatable('').__index = 1",
		// error().
		"error('plain')", "error('ERR with class')", "error({err='ERR table'})",
		"error({err='MINE table'})", "error()", "error(nil)", "error('level0',0)", "error('x',2)",
		"error(1)", "return error_nothing", "assert(false)", "assert(false,'msg')", "assert(nil,'ERR x')",
		"return assert(1,'x')", "\n\nerror('line three')",
		"redis.call('GET','a','b')", "local ok,e = pcall(redis.call,'INCR','l0') return e",
		"local ok,e = pcall(redis.call,'NOSUCH') return e.err", "local ok,e = pcall(error,'x') return e",
		"return {err='My Err'}", "local r = redis.pcall('NOSUCH') error(r)",
		// cjson, struct, bit, cmsgpack.
		"return cjson.encode({1,2,3})", "return cjson.encode({})", "return cjson.encode({a=1})",
		"return cjson.encode('a\"b\\n/')", "return cjson.encode(1.5)", "return cjson.encode(1e20)",
		"return cjson.encode(0.1)", "return cjson.encode(2^53)", "return cjson.encode(cjson.null)",
		"return cjson.encode(true)", "return cjson.encode({1,nil,3})", "return cjson.encode({[5]='x'})",
		"return cjson.encode({[1000]='x'})", "return cjson.encode(1/0)", "return cjson.encode(0/0)",
		"return cjson.encode({{},{a={}}})",
		"return cjson.encode(print)", "return cjson.encode('\\0\\127\\255')",
		"return cjson.decode('[1,2,{\"a\":3}]')[3].a",
		"return cjson.decode('{\"a\":null}').a == cjson.null", "return cjson.decode('1e3')",
		"return cjson.decode('\"\\\\u00e9\"')", "return cjson.decode('[1.5,\"x\",true,false]')",
		"return cjson.decode('nope')", "return cjson.decode('')", "return cjson.decode('[1,')",
		"return cjson.decode('{\"a\":1} x')", "return cjson.decode('[[[[]]]]')",
		"return cjson.decode('\"\\\\ud83d\\\\ude00\"')",
		"return cjson.encode(cjson.decode('{\"a\":[]}'))", "return cjson.decode('[0x10]')",
		"return cjson.decode(ARGV[1])", "return cjson.encode(ARGV)",
		"return struct.pack('>I2','258')", "return struct.pack('<i4',-2)",
		"return struct.pack('bB',-1,255)", "return {struct.unpack('>I2','\\1\\2')}",
		"return struct.pack('s','hello')", "return struct.pack('>Lc0',5,'hello')",
		"return {struct.unpack('>I2c0',struct.pack('>I2c0',3,'abc'))}", "return struct.size('>I2i4')",
		"return struct.pack('d',1.5)", "return struct.pack('f',1.5)",
		"return {struct.unpack('d',struct.pack('d',1.5))}", "return struct.pack('y',1)",
		"return struct.pack('i9',1)", "return {struct.unpack('I4','abc')}",
		"return struct.pack('<!4 b i4',1,2)", "return struct.pack('hHlLTx',1,2,3,4,5)",
		"return bit.tobit(0xffffffff)", "return bit.tohex(255)", "return bit.tohex(255,-4)",
		"return bit.band(12,10)", "return bit.bor(12,10)", "return bit.bxor(12,10)", "return bit.bnot(0)",
		"return bit.lshift(1,31)", "return bit.rshift(-1,1)", "return bit.arshift(-8,1)",
		"return bit.rol(0x12345678,8)", "return bit.ror(0x12345678,8)", "return bit.bswap(0x12345678)",
		"return bit.band('a')", "return bit.band(2^40+3,7)", "return bit.tobit(1.5)",
		"return cmsgpack.pack(1)", "return cmsgpack.pack(-33)", "return cmsgpack.pack(1.5)",
		"return cmsgpack.pack('abc')", "return cmsgpack.pack({1,2,3})", "return cmsgpack.pack({a=1})",
		"return cmsgpack.pack(nil)", "return cmsgpack.pack(true,false)", "return cmsgpack.pack(2^40)",
		"return cmsgpack.pack(string.rep('x',300))", "return cmsgpack.unpack(cmsgpack.pack({1,{2,'x'}}))",
		"return {cmsgpack.unpack(cmsgpack.pack(1,2,3))}",
		"return {cmsgpack.unpack_one(cmsgpack.pack(1,2))}",
		"return {cmsgpack.unpack_limit(cmsgpack.pack(1,2,3),2)}", "return cmsgpack.unpack('\\193')",
		"return cmsgpack.unpack('')", "return cmsgpack.pack()", "return cmsgpack.unpack('\\147\\1\\2')",
		// Headers.
		"#!lua\nreturn 1", "#!lua flags=no-writes\nreturn redis.call('SET','s0','x')",
		"#!lua flags=no-writes\nreturn redis.call('GET','s0')", "#!lua flags=nosuch\nreturn 1",
		"#!nolua\nreturn 1", "#!lua name=x\nreturn 1", "#!lua flags=allow-oom,no-cluster\nreturn 1",
		"#!lua", "#!", "#!lua flags=\nreturn 1",
		"#!lua flags=no-writes,allow-stale flags=no-writes\nreturn 1",
		// Scripts in the form that lock clients send.
		"if redis.call('EXISTS','h0') == 0 then redis.call('HINCRBY','h0','a',1) redis.call('PEXPIRE','h0',30000000) return nil end return redis.call('HLEN','h0')",
		"if redis.call('GET','s1') == ARGV[1] then return redis.call('DEL','s1') else return 0 end",
		"local n = redis.call('INCRBYFLOAT','s3','0.5') return n + 1",
		"local v = redis.call('ZRANGE','z0',0,-1,'WITHSCORES') local t = {} for i=1,#v,2 do t[#t+1]=tonumber(v[i+1]) end return t",
		"return {redis.call('TTL','missing'), redis.call('EXISTS','missing'), redis.call('HGET','missing','f') == false}",
	}
}

// luaTextScripts fail with Lua's own message inside the frame.
func luaTextScripts() []string {
	return []string{
		"return nil + 1", "local x = nil return x.y", "return {} .. 'x'", "return {} < {}",
		"return 1 < 'x'", "return #nil", "nofunction()", "local t = {} t.f()", "return ('x')()",
		"return -{}", "local s = 'x' return s + 1",
		"\n\nreturn nil .. 'x'", "return }", "if", "return 'unfinished", "for", "local 1 = 2", "x = = 1",
		"\n\nreturn )", "goto", "return string.rep()", "return string.format('%d','x')",
		"return table.concat({{}})", "return tonumber({},99)", "return math.floor('x')",
		"return setmetatable(1,{})", "return unpack()", "return string.char(256)",
		"return ARGV[1] + 1", "for i='x',2 do end", "return tonumber('10',99)", "return select(0)",
		"return ipairs()", "return table.insert({},1,2,3)",
	}
}

func borders() []border {
	var all []border
	for _, s := range plainScripts() {
		all = append(all, border{source: s})
	}
	for _, s := range luaTextScripts() {
		all = append(all, border{source: s, luaText: true})
	}
	return all
}

var loadedScripts = []string{"return ARGV[1]", "return redis.call('GET','s0')",
	"return redis.call('INCR','s0')", "return )", "return {1,2}", ""}

// knownShas are the SHAs of the scripts that SCRIPT LOAD gets.
func knownShas() []string {
	var shas []string
	for _, s := range loadedScripts {
		sum := sha1.Sum([]byte(s))
		shas = append(shas, hex.EncodeToString(sum[:]))
	}
	return shas
}

// The scripts that run a generated command. Each gets the command as its arguments and
// returns the command's result.
const (
	scriptCall  = "return redis.call(unpack(ARGV))"
	scriptPcall = "return redis.pcall(unpack(ARGV))"
	scriptResp3 = "redis.setresp(3) return redis.call(unpack(ARGV))"
	scriptShape = "local r = redis.pcall(unpack(ARGV)) if type(r) == 'table' then if r.err then return {'err', r.err} elseif r.ok then return {'ok', r.ok} end " +
		"return {'table', #r, r} end return {type(r), tostring(r), r}"
)
