-- Facets name their kind in words: `tag:urgent` instead of `g:urgent`.

-- The old kinds, and the names that they have now.
create temporary table facet_kinds (old text primary key, kind text not null) on commit drop;
insert into facet_kinds values
  ('o', 'own_queue_task'), ('t', 'other_queue_task'), ('q', 'queue'), ('v', 'version'), ('g', 'tag'), ('m', 'machine'), ('r', 'region'),
  ('c', 'schedule'), ('s', 'status'), ('e', 'task_status'), ('p', 'path'), ('x', 'error');
update run_facets f set facet = k.kind || substr(f.facet, 2) from facet_kinds k where f.facet like k.old || ':%';
update run_facets set facet = 'test:true' where facet = 'd';
update runs set path_facets = (select array_agg('path' || substr(f.facet, 2)) from unnest(path_facets) as f (facet))
 where path_facets <> '{}';
drop table facet_kinds;
