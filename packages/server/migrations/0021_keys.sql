-- Idempotency keys that were led to another run than the one they were made for (a debounced call), so that they are found when that run
-- goes: among all keys of its task there may be millions.
alter table idempotency_keys add column led boolean not null default false;
update idempotency_keys k set led = true
  from runs r
 where r.env = k.env and r.id = k.run_id and r.debounce_key is not null and r.idempotency_key is distinct from k.key;
create index idempotency_keys_led on idempotency_keys (env, run_id) where led;

create function lead_idempotency_key() returns trigger language plpgsql as $$
begin
  new.led := true;
  return new;
end $$;
create trigger idempotency_key_led before update of run_id on idempotency_keys
  for each row when (old.run_id <> new.run_id) execute function lead_idempotency_key();
