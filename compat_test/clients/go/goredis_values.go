package main

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockredis/lockredis/compat_test/clients/go/check"
)

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

// goRedisValues checks strings, deadlines, collections and keys.
func goRedisValues(run goRedisRun) {
	goRedisStrings(run)
	goRedisCollections(run)
	goRedisKeys(run)
}

func goRedisStrings(run goRedisRun) {
	run("Nil and the types of replies", func(t *check.T, rdb *redis.Client) {
		t.Is(rdb.Get(t, "nothing").Err(), redis.Nil)
		t.OK(rdb.Set(t, "pi", 3.25, 0).Err())
		pi := check.Must[float64](t)(rdb.Get(t, "pi").Float64())
		t.Equal(pi, 3.25)
		t.Equal(rdb.MGet(t, "pi", "nothing").Val(), []any{"3.25", nil})
		t.Says(rdb.Incr(t, "pi").Err(), "ERR value is not an integer")
	})
	run("SetNX, SetXX, SetArgs, GetEx, GetDel", func(t *check.T, rdb *redis.Client) {
		t.Equal(rdb.SetNX(t, "s", 1, time.Minute).Val(), true)
		t.Equal(rdb.SetNX(t, "s", 2, time.Minute).Val(), false)
		t.Equal(rdb.SetXX(t, "s", 3, redis.KeepTTL).Val(), true)
		t.True(rdb.TTL(t, "s").Val() > 50*time.Second, "the time to live stays")
		old := check.Must[string](t)(rdb.SetArgs(t, "s", 4, redis.SetArgs{Get: true, TTL: time.Hour}).Result())
		t.Equal(old, "3")
		t.Equal(rdb.GetEx(t, "s", 0).Val(), "4")
		t.Equal(rdb.TTL(t, "s").Val(), time.Duration(-1))
		t.Equal(rdb.GetDel(t, "s").Val(), "4")
		t.Equal(rdb.Exists(t, "s").Val(), int64(0))
	})
	run("a value of ten megabytes", func(t *check.T, rdb *redis.Client) {
		large := strings.Repeat("0123456789", 1<<20)
		t.OK(rdb.Set(t, "large", large, time.Minute).Err())
		t.True(rdb.Get(t, "large").Val() == large, "the value comes back")
		t.Equal(rdb.Unlink(t, "large").Val(), int64(1))
	})
	run("deadlines: Expire with NX, XX, GT, LT", func(t *check.T, rdb *redis.Client) {
		rdb.Set(t, "d", 1, 0)
		t.Equal([]bool{rdb.ExpireXX(t, "d", time.Minute).Val(), rdb.ExpireNX(t, "d", time.Minute).Val(),
			rdb.ExpireGT(t, "d", time.Second).Val(), rdb.ExpireLT(t, "d", time.Second).Val()},
			[]bool{false, true, false, true})
		t.OK(rdb.PExpire(t, "d", 20*time.Millisecond).Err())
		t.Await("the key to expire", func() bool { return rdb.Exists(t, "d").Val() == 0 })
	})
}

func goRedisCollections(run goRedisRun) {
	run("a struct in a hash", func(t *check.T, rdb *redis.Client) {
		type model struct {
			Name  string  `redis:"name"`
			Count int     `redis:"count"`
			Share float64 `redis:"share"`
		}
		want, got := model{"lock", 3, 0.5}, model{}
		t.OK(rdb.HSet(t, "model", want).Err())
		t.OK(rdb.HGetAll(t, "model").Scan(&got))
		t.Equal(got, want)
		t.Equal(len(rdb.HRandFieldWithValues(t, "model", 2).Val()), 2)
	})
	run("lists: LMove, LPos, LMPop", func(t *check.T, rdb *redis.Client) {
		rdb.RPush(t, "l", "a", "b", "c", "b")
		t.Equal(rdb.LPosCount(t, "l", "b", 0, redis.LPosArgs{}).Val(), []int64{1, 3})
		t.Equal(rdb.LMove(t, "l", "l2", "LEFT", "RIGHT").Val(), "a")
		key, elements, err := rdb.LMPop(t, "right", 2, "none", "l").Result()
		t.OK(err)
		t.Equal([]any{key, elements}, []any{"l", []string{"b", "c"}})
	})
	run("sets: SInterCard, SMIsMember", func(t *check.T, rdb *redis.Client) {
		rdb.SAdd(t, "s1", 1, 2, 3)
		rdb.SAdd(t, "s2", 2, 3, 4)
		t.Equal(rdb.SInterCard(t, 1, "s1", "s2").Val(), int64(1))
		t.Equal(rdb.SMIsMember(t, "s1", 1, 9).Val(), []bool{true, false})
		union := rdb.SUnion(t, "s1", "s2").Val()
		slices.Sort(union)
		t.Equal(union, []string{"1", "2", "3", "4"})
	})
	run("sorted sets: ZAddArgs, ZRangeArgs, ZMPop", func(t *check.T, rdb *redis.Client) {
		rdb.ZAdd(t, "z", redis.Z{Score: 1, Member: "a"}, redis.Z{Score: 2, Member: "b"}, redis.Z{Score: 3, Member: "c"})
		t.Equal(rdb.ZAddArgs(t, "z", redis.ZAddArgs{GT: true, Ch: true, Members: []redis.Z{{Score: 0, Member: "b"}}}).Val(), int64(0))
		t.Equal(rdb.ZRangeArgs(t, redis.ZRangeArgs{Key: "z", Start: "+inf", Stop: "(1", ByScore: true, Rev: true}).Val(), []string{"c", "b"})
		t.Equal(rdb.ZInterWithScores(t, &redis.ZStore{Keys: []string{"z", "z"}, Weights: []float64{1, 2}}).Val()[0], redis.Z{Score: 3, Member: "a"})
		key, members, err := rdb.ZMPop(t, "max", 1, "z").Result()
		t.OK(err)
		t.Equal([]any{key, members}, []any{"z", []redis.Z{{Score: 3, Member: "c"}}})
	})
	run("geo, HyperLogLog, bits", func(t *check.T, rdb *redis.Client) {
		rdb.GeoAdd(t, "geo", &redis.GeoLocation{Name: "Palermo", Longitude: 13.361389, Latitude: 38.115556},
			&redis.GeoLocation{Name: "Catania", Longitude: 15.087269, Latitude: 37.502669})
		near := rdb.GeoSearch(t, "geo", &redis.GeoSearchQuery{Longitude: 15, Latitude: 37, Radius: 100, RadiusUnit: "km"}).Val()
		t.Equal(near, []string{"Catania"})
		t.Equal(rdb.GeoDist(t, "geo", "Palermo", "Catania", "km").Val(), 166.2742)
		rdb.PFAdd(t, "hll", 1, 2, 3, 3)
		t.Equal(rdb.PFCount(t, "hll").Val(), int64(3))
		t.Equal(rdb.BitField(t, "bits", "incrby", "u4", 0, 15, "get", "u4", 0).Val(), []int64{15, 15})
		t.Equal(rdb.BitCount(t, "bits", &redis.BitCount{Start: 0, End: -1}).Val(), int64(4))
	})
}

func goRedisKeys(run goRedisRun) {
	run("Scan, HScan, SScan and ZScan iterate", func(t *check.T, rdb *redis.Client) {
		fields, members := map[string]any{}, []any{}
		for i := range 1000 {
			n := strconv.Itoa(i)
			fields[n], members = "v"+n, append(members, n)
			rdb.Set(t, "scan:"+n, n, 0)
		}
		rdb.HSet(t, "scanhash", fields)
		rdb.SAdd(t, "scanset", members...)
		iterate := func(iterator *redis.ScanIterator) int {
			seen := map[string]bool{}
			for iterator.Next(t) {
				seen[iterator.Val()] = true
			}
			t.OK(iterator.Err())
			return len(seen)
		}
		t.Equal(iterate(rdb.Scan(t, 0, "scan:*", 100).Iterator()), 1000)
		t.Equal(iterate(rdb.ScanType(t, 0, "scan*", 100, "hash").Iterator()), 1)
		t.Equal(iterate(rdb.SScan(t, "scanset", 0, "", 50).Iterator()), 1000)
		t.Equal(iterate(rdb.HScan(t, "scanhash", 0, "9?", 50).Iterator()), 20) // with the values
	})
	run("Sort, Copy, Dump and Restore, LCS", func(t *check.T, rdb *redis.Client) {
		rdb.RPush(t, "unsorted", 3, 1, 2)
		t.Equal(rdb.Sort(t, "unsorted", &redis.Sort{Order: "DESC"}).Val(), []string{"3", "2", "1"})
		t.Equal(rdb.Copy(t, "unsorted", "copied", 0, false).Val(), int64(1))
		payload := check.Must[string](t)(rdb.Dump(t, "unsorted").Result())
		t.OK(rdb.RestoreReplace(t, "restored", time.Minute, payload).Err())
		t.Equal(rdb.LRange(t, "restored", 0, -1).Val(), []string{"3", "1", "2"})
		rdb.MSet(t, "k1", "ohmytext", "k2", "mynewtext")
		lcs := check.Must[*redis.LCSMatch](t)(rdb.LCS(t, &redis.LCSQuery{Key1: "k1", Key2: "k2"}).Result())
		t.Equal(lcs.MatchString, "mytext")
	})
}
