/** The section for a status, if the message is not more specific. */
export function anchorOfStatus(status: number) {
  switch (status) {
    case 401:
      return 'invalid-credential';
    case 403:
      return 'missing-permission';
    case 404:
    case 405:
    // Features that this server does not have.
    case 501:
      return 'not-found';
    case 409:
    case 412:
      return 'conflict-with-the-current-state';
    case 408:
    case 415:
      return 'malformed-request';
    case 413:
      return 'request-body-too-large';
    case 429:
      return 'too-many-requests';
    case 502:
    case 503:
    case 504:
      return 'the-server-is-unavailable';
    default:
      return status >= 500 ? 'internal-server-error' : 'invalid-value';
  }
}
