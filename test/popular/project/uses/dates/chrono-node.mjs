import * as chrono from 'chrono-node';

export default async () => chrono.parseDate('tomorrow at noon', new Date(0)).getHours();
