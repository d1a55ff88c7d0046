/** One server-sent event. */
export interface SentEvent {
  readonly event: string;
  /** The last id that was given, with this event or before. */
  readonly id: string;
  readonly data: string;
}

/** Parses a stream of server-sent events. Calls `heard` for all data, including pings. Rejects if the stream breaks. */
export async function* sentEvents(
  body: ReadableStream<Uint8Array>,
  heard: () => void = () => {},
): AsyncGenerator<SentEvent> {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let pending = '';
  let event = '';
  let id = '';
  let data: string[] = [];
  try {
    for (;;) {
      const { done, value } = await reader.read();
      // An incomplete event is ignored.
      if (done) return;
      heard();
      const lines = (pending + value).split(/\r\n|\n|\r(?!$)/);
      pending = lines.pop() ?? '';
      for (const line of lines) {
        if (line === '') {
          if (data.length > 0) yield { event: event || 'message', id, data: data.join('\n') };
          event = '';
          data = [];
        } else if (line.startsWith('data:')) data.push(line.slice(line[5] === ' ' ? 6 : 5));
        else if (line.startsWith('event:')) event = line.slice(6).trim();
        else if (line.startsWith('id:')) id = line.slice(3).trim();
      }
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}
