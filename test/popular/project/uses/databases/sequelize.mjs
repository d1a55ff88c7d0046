import { DataTypes, Sequelize } from 'sequelize';

/** Sequelize loads `pg` by the name of the dialect. */
export default async () => {
  const sequelize = new Sequelize({ dialect: 'postgres', host: '127.0.0.1', port: 1, logging: false });
  sequelize.define('mail', { to: DataTypes.STRING });
  return sequelize.authenticate().then(
    () => 'connected',
    (error) => error.name,
  );
};
