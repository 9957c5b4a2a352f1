import type { InstallableBackend } from '../tensors/active-backend.ts';

/** A file of PyPI, for Python 3.11 or any, on Linux x86-64. */
export interface Wheel {
  readonly name: string;
  readonly version: string;
  readonly bytes: number;
  readonly sha256: string;
}

/** The parts of a backend. */
export interface Recipe {
  /** Packages of npm with their versions. */
  readonly packages: readonly string[];
  /** A native part that is built here; absent where a package brings it. */
  readonly addon?: {
    /** The package that has its source. */
    readonly package: string;
    /** The build of TensorFlow against which it is linked. */
    readonly tensorflow: Wheel;
    /** Libraries that TensorFlow loads where there is a card. */
    readonly libraries: readonly Wheel[];
  };
}

const wheel = (name: string, version: string, bytes: number, sha256: string): Wheel => ({
  name,
  version,
  bytes,
  sha256,
});

/**
 * The libraries that the extra `and-cuda` of TensorFlow's wheel names, each in the oldest version that it allows: those
 * of CUDA 12.5, with which the wheel was built.
 */
const NVIDIA = [
  wheel(
    'nvidia-cublas-cu12',
    '12.5.3.2',
    363313169,
    'ca070ad70e9fa6654084575d01bd001f30cc4665e33d4bb9fc8e0f321caa034b',
  ),
  wheel(
    'nvidia-cuda-cupti-cu12',
    '12.5.82',
    13811507,
    'bde77a5feb66752ec61db2adfe47f56b941842825b4c7e2068aff27c9d107953',
  ),
  wheel(
    'nvidia-cuda-nvcc-cu12',
    '12.5.82',
    22468537,
    'b03e545b8e8c3ce7ebcd7fc44063180ff52ff01d064ece2127ed90a04ef12cd0',
  ),
  wheel(
    'nvidia-cuda-nvrtc-cu12',
    '12.5.82',
    24873108,
    '3dbd97b0104b4bfbc3c4f8c79cd2496307c89c43c29a9f83125f1d76296ff3fd',
  ),
  wheel(
    'nvidia-cuda-runtime-cu12',
    '12.5.82',
    895707,
    '3e79a060e126df40fd3a068f3f787eb000fa51b251ec6cd97d09579632687115',
  ),
  wheel('nvidia-cudnn-cu12', '9.3.0.75', 577163502, '9ad9c6929ebb5295eb4a1728024666d1c88283373e265a0c5c883e6f9d5cd76d'),
  wheel(
    'nvidia-cufft-cu12',
    '11.2.3.61',
    192524114,
    '9a6e8df162585750f61983a638104a48c756aa13f9f48e19ab079b38e3c828b8',
  ),
  wheel(
    'nvidia-curand-cu12',
    '10.3.6.82',
    56309107,
    '2823fb27de4e44dbb22394a6adf53aa6e1b013aca0f8c22867d1cfae58405536',
  ),
  wheel(
    'nvidia-cusolver-cu12',
    '11.6.3.83',
    130341232,
    '93cfafacde4428b71778eeb092ec615a02a3d05404da1bcf91c53e3fa1bce42b',
  ),
  wheel(
    'nvidia-cusparse-cu12',
    '12.5.1.3',
    217558979,
    '016df8e993c437e8301e62739f01775cba988fd5253cd4c64173f8e8d2f8e752',
  ),
  wheel('nvidia-nccl-cu12', '2.27.7', 322546339, 'de5ba5562f08029a19cb1cd659404b18411ed0d6c90ac5f52f30bf99ad5809aa'),
  wheel(
    'nvidia-nvjitlink-cu12',
    '12.5.82',
    21298879,
    'f9b37bc5c8cf7509665cb6ada5aaa0ce65618f2332b7d3e78e9790511f111212',
  ),
];

/** The recipes of the backends that are not part of the project. */
export const RECIPES: Readonly<Record<InstallableBackend, Recipe>> = {
  cuda: {
    packages: ['@tensorflow/tfjs-node-gpu@4.22.0'],
    addon: {
      package: '@tensorflow/tfjs-node-gpu',
      tensorflow: wheel(
        'tensorflow',
        '2.21.0',
        572440367,
        '9056fbc9ba04235810b71ae6cbd958a196e8804fb53bbcffbf3e23b56155f124',
      ),
      libraries: NVIDIA,
    },
  },
  node: {
    packages: ['@tensorflow/tfjs-node@4.22.0'],
    addon: {
      package: '@tensorflow/tfjs-node',
      tensorflow: wheel(
        'tensorflow-cpu',
        '2.21.0',
        273829956,
        '2b847d217b02ee7731ed91431daf3250daa0196c3c94614d23be27232e6e5b6c',
      ),
      libraries: [],
    },
  },
  webgpu: { packages: ['webgpu@0.6.2', '@tensorflow/tfjs-backend-webgpu@4.22.0'] },
};
