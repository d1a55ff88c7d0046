import { GoogleAuth } from 'google-auth-library';

export default async () => new GoogleAuth({ projectId: 'a' }).getProjectId();
