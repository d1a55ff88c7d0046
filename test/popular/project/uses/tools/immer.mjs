import { produce } from 'immer';

export default async () => produce({ n: 1 }, (draft) => void (draft.n = 2));
