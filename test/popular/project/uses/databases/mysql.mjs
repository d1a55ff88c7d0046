import mysql from 'mysql';

export default async () => mysql.format('select ?', ["it's"]);
