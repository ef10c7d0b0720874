package command

// absentCategories are the ACL categories of the commands and subcommands of Redis 7.0.15
// that may be missing in the table, one to a line. Rules can name them, and a user is
// described in the same words as in Redis. A line about a command of the table, or about a
// subcommand of a container that is not there, has no effect.
const absentCategories = `
bitcount read bitmap slow
bitfield write bitmap slow
bitfield_ro read bitmap fast
bitop write bitmap slow
bitpos read bitmap slow
client|caching slow connection
client|getredir slow connection
client|tracking slow connection
client|trackinginfo slow connection
cluster|failover admin slow dangerous
cluster|forget admin slow dangerous
cluster|meet admin slow dangerous
cluster|replicate admin slow dangerous
cluster|saveconfig admin slow dangerous
cluster|setslot admin slow dangerous
dump keyspace read slow
failover admin slow dangerous
geoadd write geo slow
geodist read geo slow
geohash read geo slow
geopos read geo slow
georadius write geo slow
georadius_ro read geo slow
georadiusbymember write geo slow
georadiusbymember_ro read geo slow
geosearch read geo slow
geosearchstore write geo slow
getbit read bitmap fast
migrate keyspace write slow dangerous
module slow
module|help slow
module|list admin slow dangerous
module|load admin slow dangerous
module|loadex admin slow dangerous
module|unload admin slow dangerous
pfadd write hyperloglog fast
pfcount read hyperloglog slow
pfdebug write hyperloglog admin slow dangerous
pfmerge write hyperloglog slow
pfselftest hyperloglog admin slow dangerous
psync admin slow dangerous
replconf admin slow dangerous
replicaof admin slow dangerous
restore keyspace write slow dangerous
restore-asking keyspace write slow dangerous
setbit write bitmap slow
sentinel|simulate-failure admin slow dangerous
slaveof admin slow dangerous
sync admin slow dangerous
xack write stream fast
xadd write stream fast
xautoclaim write stream fast
xclaim write stream fast
xdel write stream fast
xgroup slow
xgroup|create write stream slow
xgroup|createconsumer write stream slow
xgroup|delconsumer write stream slow
xgroup|destroy write stream slow
xgroup|help stream slow
xgroup|setid write stream slow
xinfo slow
xinfo|consumers read stream slow
xinfo|groups read stream slow
xinfo|help stream slow
xinfo|stream read stream slow
xlen read stream fast
xpending read stream slow
xrange read stream slow
xread read stream slow blocking
xreadgroup write stream slow blocking
xrevrange read stream slow
xsetid write stream fast
xtrim write stream slow
`
