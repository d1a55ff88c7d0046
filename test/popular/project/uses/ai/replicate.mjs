import Replicate from 'replicate';

export default async () => typeof new Replicate({ auth: 'none' }).run;
