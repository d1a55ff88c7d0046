-- The audit log by object.
create index audit_log_by_target on audit_log (organization_id, target, id);
