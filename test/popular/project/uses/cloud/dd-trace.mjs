import tracer from 'dd-trace';

export default async () => typeof tracer.trace;
