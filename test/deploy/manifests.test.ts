/** Compose, Kubernetes and GitHub Actions: valid by the published schemas, and what their values must be to keep money and work. */
import { describe, expect, it } from 'vitest';
import { exitCodes } from '../../src/cli/exit-codes.ts';
import { loadConfig } from '../../src/config/load.ts';
import { composeProblems, documentOf, documentsOf, kubernetesProblems, textOf, workflowProblems } from './published.ts';

/** A call may take its timeout, 300 s unless a sync sets another, and the client's margin. */
const LONGEST_CALL_S = 300 + 30;
const HEALTH_PORT = 9464;

interface Service {
  readonly image: string;
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly stop_grace_period?: string;
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly secrets?: readonly string[];
  readonly networks: readonly string[];
  readonly volumes?: readonly string[];
  readonly healthcheck?: Readonly<Record<string, unknown>>;
  readonly depends_on?: Readonly<Record<string, unknown>>;
  readonly deploy: { readonly resources: { readonly limits: Readonly<Record<string, string>> } };
}

describe('deploy/compose.yaml', () => {
  const file = documentOf('deploy/compose.yaml');
  const services = file['services'] as Readonly<Record<string, Service>>;
  const ours = ['migrate', 'schedule', 'worker', 'sync'].map((name) => [name, services[name] as Service] as const);

  it('is a Compose file', () => {
    expect(composeProblems(file)).toEqual([]);
    expect(composeProblems({ ...file, services: { a: { imaeg: 'x' } } })).not.toEqual([]);
  });

  it('bounds every service, and writes its log in bounded files', () => {
    for (const service of Object.values(services))
      expect(service).toMatchObject({
        deploy: { resources: { limits: { cpus: expect.any(String), memory: expect.any(String) } } },
        logging: { options: { 'max-size': expect.any(String), 'max-file': expect.any(String) } },
      });
  });

  it.each(ours)(
    'gives %s longer than the longest call to end, nothing to write but its volume, and secrets as files',
    (_, it) => {
      const minutes = Number(/^(\d+)m$/.exec(it.stop_grace_period ?? '')?.[1]);
      expect(minutes * 60).toBeGreaterThan(LONGEST_CALL_S);
      expect(it).toMatchObject({
        read_only: true,
        cap_drop: ['ALL'],
        image: expect.stringMatching(/^sluice:\d+\.\d+\.\d+$/),
      });
      for (const name of it.secrets ?? [])
        expect(Object.values(it.environment ?? {})).toContain(`/run/secrets/${name}`);
      expect(it.secrets).toHaveLength(2);
      expect(Object.keys(it.environment ?? {})).not.toContain('DATABASE_URL');
      expect(it.volumes).toContain('data:/data');
    },
  );

  it('keeps the database off the outer network, and the sandbox off the database’s', () => {
    expect(file['networks']).toMatchObject({ database: { internal: true } });
    expect([services['postgres']?.networks, services['sandbox']?.networks]).toEqual([['database'], ['service']]);
  });

  it('migrates before the roles start, and checks their health', () => {
    for (const role of ['schedule', 'worker']) {
      expect(services[role]).toMatchObject({
        depends_on: { migrate: { condition: 'service_completed_successfully' } },
        healthcheck: { test: ['CMD', 'node', '/app/deploy/healthcheck.ts'] },
        command: [role, '--listen', `0.0.0.0:${HEALTH_PORT}`],
      });
    }
  });

  it('names images that it does not build by more than a tag', () => {
    for (const { image, ...rest } of Object.values(services))
      expect('build' in rest || /:[\w.-]+@sha256:[0-9a-f]{64}$/.test(image), image).toBe(true);
  });
});

interface PodSpec {
  readonly terminationGracePeriodSeconds: number;
  readonly restartPolicy?: string;
  readonly securityContext: unknown;
  readonly containers: readonly Readonly<Record<string, unknown>>[];
}
interface Rule {
  readonly action: string;
  readonly onExitCodes?: { readonly operator: string; readonly values: readonly number[] };
}
interface JobSpec {
  readonly podFailurePolicy: { readonly rules: readonly Rule[] };
  readonly template: { readonly spec: PodSpec };
}

const FILES = ['config', 'cronjob', 'migrate', 'network-policy', 'schedule', 'worker'].map(
  (name) => `deploy/kubernetes/${name}.yaml`,
);
const objects = FILES.flatMap(documentsOf);
const objectOf = (kind: string, name: string): Readonly<Record<string, unknown>> =>
  objects.find((it) => it['kind'] === kind && (it['metadata'] as { readonly name: string }).name === name) ?? {};
const specOf = (kind: string, name: string): unknown => objectOf(kind, name)['spec'];

describe('deploy/kubernetes', () => {
  it.each(objects.map((it) => [`${String(it['kind'])} ${(it['metadata'] as { name: string }).name}`, it] as const))(
    '%s is what the API takes',
    (_, object) => {
      expect(kubernetesProblems(object)).toEqual([]);
      expect(kubernetesProblems({ ...object, spce: {} })).not.toEqual([]);
    },
  );

  const cronJob = specOf('CronJob', 'sluice-sync') as { readonly jobTemplate: { readonly spec: JobSpec } };
  const sync = cronJob.jobTemplate.spec;
  const migrate = specOf('Job', 'sluice-migrate') as JobSpec;
  const actionOf = ({ podFailurePolicy: { rules } }: JobSpec, code: number): string | undefined =>
    rules.find(({ onExitCodes }) => onExitCodes?.values.includes(code))?.action;

  it('acts by exit code, for every code that there is', () => {
    const actions = exitCodes.map(({ code }) => [code, actionOf(sync, code)] as const);
    expect(Object.fromEntries(actions)).toEqual({
      0: undefined,
      1: 'FailJob',
      2: 'FailJob',
      3: 'FailJob',
      4: 'FailJob',
      5: 'Count',
      6: 'FailJob',
      7: 'Count',
      8: 'FailJob',
    });
    expect([1, 2, 3, 5, 8].map((code) => actionOf(migrate, code))).toEqual([
      'FailJob',
      'FailJob',
      'FailJob',
      undefined,
      'FailJob',
    ]);
  });

  it.each([sync, migrate])(
    'has a policy that the API server takes besides its schema',
    ({ podFailurePolicy, template }) => {
      // What the schema can't say: codes in order and none twice, no 0, and no restarts by the kubelet.
      for (const { onExitCodes } of podFailurePolicy.rules) {
        const values = onExitCodes?.values ?? [];
        expect(values).toEqual([...new Set(values)].toSorted((a, b) => a - b));
        expect(values).not.toContain(0);
      }
      expect(podFailurePolicy.rules[0]).toMatchObject({
        action: 'Ignore',
        onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }],
      });
      expect(template.spec.restartPolicy).toBe('Never');
    },
  );

  const roles = ['schedule', 'worker'].map((role) => {
    const { template } = specOf('Deployment', `sluice-${role}`) as { readonly template: { readonly spec: PodSpec } };
    return [role, template.spec] as const;
  });
  it.each([...roles, ['sync', sync.template.spec] as const])(
    'gives %s longer than the longest call to end',
    (_, pod) => {
      expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(LONGEST_CALL_S);
    },
  );

  it.each([...roles, ['sync', sync.template.spec] as const, ['migrate', migrate.template.spec] as const])(
    'lets %s write to its volumes alone, and be nobody special',
    (_, pod) => {
      expect(pod).toMatchObject({
        automountServiceAccountToken: false,
        securityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: 'RuntimeDefault' } },
        containers: [
          {
            image: expect.stringMatching(/:\d+\.\d+\.\d+$/),
            securityContext: {
              allowPrivilegeEscalation: false,
              readOnlyRootFilesystem: true,
              capabilities: { drop: ['ALL'] },
            },
            resources: { requests: { memory: expect.any(String) }, limits: { memory: expect.any(String) } },
          },
        ],
      });
    },
  );

  it.each(roles)('checks the health of %s where it listens', (role, pod) => {
    expect(pod.containers[0]).toMatchObject({
      args: [role, '--listen', `0.0.0.0:${HEALTH_PORT}`],
      ports: [{ name: 'health', containerPort: HEALTH_PORT }],
      livenessProbe: { httpGet: { path: '/healthz', port: 'health' } },
      readinessProbe: { httpGet: { path: '/readyz', port: 'health' } },
    });
    expect(specOf('PodDisruptionBudget', `sluice-${role}`)).toMatchObject({ maxUnavailable: 1 });
  });

  it('starts no second run beside an active one', () => {
    expect(specOf('CronJob', 'sluice-sync')).toMatchObject({
      concurrencyPolicy: 'Forbid',
      startingDeadlineSeconds: expect.any(Number),
    });
  });

  it('carries the config of deploy/', async () => {
    const inside = (objectOf('ConfigMap', 'sluice-config')['data'] as Readonly<Record<string, string>>)['sluice.yaml'];
    const [, , ...rest] = textOf('deploy/sluice.yaml').split('\n');
    expect(inside).toBe(rest.join('\n'));
    const env = {
      SLUICE_SERVICE_URL: 'https://a.example',
      SLUICE_SERVICE_TOKEN: 'a',
      DATABASE_URL: 'postgres://a@b/c',
    };
    expect((await loadConfig('deploy/sluice.yaml', env)).syncs.every(({ schedule }) => schedule !== undefined)).toBe(
      true,
    );
  });
});

describe('deploy/github-actions.yaml', () => {
  const file = documentOf('deploy/github-actions.yaml');

  it('is a workflow', () => {
    expect(workflowProblems(file)).toEqual([]);
    expect(workflowProblems({ ...file, jobs: { a: { steps: [{ uses: 1 }] } } })).not.toEqual([]);
  });

  it('runs one at a time to its end, with rights to read and actions by commit', () => {
    expect(file).toMatchObject({
      concurrency: { group: 'sluice', 'cancel-in-progress': false },
      permissions: { contents: 'read' },
    });
    const used = [...textOf('deploy/github-actions.yaml').matchAll(/uses: (\S+)/g)].map(([, it]) => it);
    expect(used.length).toBeGreaterThan(2);
    for (const it of used) expect(it).toMatch(/^actions\/[\w-]+@[0-9a-f]{40}$/);
  });
});

describe('deploy/github/plan-cost.yaml', () => {
  const path = 'deploy/github/plan-cost.yaml';

  it('is a workflow that comments on pull requests of the repository itself, and holds no token of the service', () => {
    expect(workflowProblems(documentOf(path))).toEqual([]);
    expect(documentOf(path)).toMatchObject({
      permissions: { contents: 'read', 'pull-requests': 'write' },
      jobs: { cost: { if: expect.stringContaining('head.repo.full_name == github.repository') } },
    });
    expect(textOf(path)).not.toContain('SLUICE_SERVICE_TOKEN');
  });

  it('uses the actions and the Node of the other workflow', () => {
    const pinned = (file: string): readonly string[] =>
      [...textOf(file).matchAll(/(?:uses: actions\/(?:checkout|setup-node)|node-version).*/g)].map(([it]) => it);
    expect(pinned(path).length).toBe(3);
    expect(pinned(path)).toEqual(pinned('deploy/github-actions.yaml'));
  });
});
