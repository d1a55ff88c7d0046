-- Sends notifications for failed runs. The functions that end runs call it; the other notifications have triggers.
--
-- Locks: as notify_endpoints.
-- Callers: complete_attempts, record_errors.
create or replace function notify_failed_runs(p_env int[], p_run text[]) returns void language plpgsql as $$
begin
  perform notify_endpoints(r.env, r.finished_at, 'run.failed', jsonb_strip_nulls(jsonb_build_object(
            'id', r.id, 'taskIdentifier', r.task, 'status', r.status, 'version', v.version, 'attemptCount', r.attempt,
            'isTest', r.is_test, 'tags', to_jsonb(coalesce(r.tags, '{}')), 'createdAt', iso_time(r.created_at),
            'startedAt', iso_time(r.started_at), 'finishedAt', iso_time(r.finished_at), 'errorId', f.group_id,
            'error', jsonb_build_object('name', r.error ->> 'name', 'message', left(r.error ->> 'message', 1000)))))
     from unnest(p_env, p_run) as n (env, run)
     join runs r on r.env = n.env and r.id = n.run
     left join versions v on v.id = r.version_id
     left join error_fingerprints f on f.id = r.error_fingerprint_id
    where exists (select from notification_endpoints e where e.env = n.env);
end $$;
