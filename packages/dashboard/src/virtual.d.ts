/** `admin`, or `admin member` where another role is enough in dev: what each operation needs; roles-plugin.ts makes it. */
declare module 'virtual:roles' {
  const roles: Readonly<Record<string, string>>;
  export default roles;
}
