import { DataTypes, Sequelize } from 'sequelize';

/** The dialect is named, and Sequelize loads `pg`. */
export default async () => {
  const sequelize = new Sequelize({ dialect: 'postgres', host: '127.0.0.1', port: 1, logging: false });
  sequelize.define('mail', { to: DataTypes.STRING });
  return sequelize.authenticate().then(
    () => 'connected',
    (error) => error.name,
  );
};
