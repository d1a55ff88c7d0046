/** The part that the tests use: the package has no types of its own. */
declare module '@elastic/mockotlpserver' {
  export class MockOtlpServer {
    constructor(options: {
      services: readonly ('http' | 'grpc' | 'ui')[];
      httpHostname: string;
      /** 0 is a free one. */
      httpPort: number;
      logLevel: 'error';
      /** Both are called with the decoded body of a request. */
      onTrace(body: unknown): void;
      onLogs(body: unknown): void;
    });
    readonly httpUrl: string;
    start(): Promise<void>;
    close(): Promise<void>;
  }
}
