import { remark } from 'remark';

export default async () => String(await remark().process('* Hello'));
