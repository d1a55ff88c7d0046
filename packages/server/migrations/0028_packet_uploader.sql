-- Which restricted key or public token sent the packet; null for a key of everything, and for outputs. Another restricted caller neither
-- replaces the packet nor names it in a trigger, unless they may read a run that names it.
alter table packets add column uploaded_by text collate "C";
