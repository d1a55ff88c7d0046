-- Whether the code of the run waited for this step alone when it called it (docs/steps.md, "When code changes").
alter table run_steps add column is_sequential boolean not null default false;
