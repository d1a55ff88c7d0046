import { from, lastValueFrom, toArray } from 'rxjs';

export default async () => lastValueFrom(from([1, 2]).pipe(toArray()));
