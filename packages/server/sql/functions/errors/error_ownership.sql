-- Who is responsible for an error group: the assigned owner or member, otherwise the owner of its task. With its note and its ticket.
--
-- Locks: none.
-- Callers: errors/ownership/read.ts, add_alert_events.
create or replace function error_ownership(p_env int, p_group text, p_task text) returns jsonb language sql stable as $$
  select jsonb_build_object(
           'owner', coalesce(a.owner, u.email, case when a.member_id is null then t.owner end),
           'source', case when a.owner is not null then 'owner' when a.member_id is not null then 'member'
                          when t.owner is not null then 'task' end,
           'userId', a.member_id, 'ticketUrl', a.ticket_url, 'note', a.note)
    from (select task_owner(p_env, p_task) as owner) t
    left join error_assignments a on a.env = p_env and a.group_id = p_group
    left join users u on u.id = a.member_id
$$;
