import neo4j from 'neo4j-driver';

export default async () => {
  const driver = neo4j.driver('bolt://127.0.0.1:1', neo4j.auth.basic('a', 'b'));
  const error = await driver.verifyConnectivity().catch(({ code }) => code);
  await driver.close();
  return error;
};
