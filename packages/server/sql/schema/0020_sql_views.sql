-- SQL views for reports (../views.sql).

-- The environments that a database role sees in the views; 0 for all. A role without a row sees nothing.
create table sql_readers (
  role text not null,
  env int not null,
  primary key (role, env)
);
