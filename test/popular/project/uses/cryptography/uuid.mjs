import { v5 } from 'uuid';

export default async () => v5('a', v5.URL);
