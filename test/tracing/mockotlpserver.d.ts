/** The part that the tests use: the package has no types. */
declare module '@elastic/mockotlpserver' {
  export class MockOtlpServer {
    constructor(options: {
      services: readonly ('http' | 'grpc' | 'ui')[];
      httpHostname: string;
      /** 0 selects a free port. */
      httpPort: number;
      logLevel: 'error';
      /** Both receive the decoded body of a request. */
      onTrace(body: unknown): void;
      onLogs(body: unknown): void;
    });
    readonly httpUrl: string;
    start(): Promise<void>;
    close(): Promise<void>;
  }
}
