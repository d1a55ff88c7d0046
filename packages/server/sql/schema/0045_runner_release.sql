-- The release of Millrace that a runner is of, as it said when it connected; null for one that does not say it.
alter table runners add column release text;
