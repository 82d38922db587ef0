queue;main;[join] 8889847
queue;main;[other] 97861
queue;main;consume;[condition] 12920039
queue;main;consume;[lock] 742745
queue;main;produce;[condition] 13410029
queue;main;produce;[lock] 327062
queue;main;produce;[other] 86707
