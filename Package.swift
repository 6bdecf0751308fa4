// swift-tools-version: 6.2
import PackageDescription

// Swift 6 language mode everywhere. Warnings are errors in every build, here rather than by a flag, so that all builds are one build.
let swiftSettings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error),
]

func systemLibrary(_ name: String, _ debianPackage: String) -> Target {
    .systemLibrary(name: name, path: "Sources/\(name)", providers: [.apt([debianPackage])])
}

/// - Parameter linked: libraries that it has with it and doesn't import.
func library(_ name: String, _ dependencies: [Target.Dependency] = [], linked: [Target] = []) -> Target {
    .target(
        name: name, dependencies: dependencies + linked.map { .target(name: $0.name) }, path: "Sources/\(name)",
        swiftSettings: swiftSettings)
}

/// A plugin is a stage library, which tests and simulations import, and a thin executable.
func plugin(
    _ folder: String, _ stage: String, _ dependencies: [Target.Dependency], main: [Target.Dependency] = ["PluginKit"],
    packageAccess: Bool = true
) -> [Target] {
    [
        .target(
            name: stage, dependencies: dependencies, path: "plugins/\(folder)/Stage", packageAccess: packageAccess,
            swiftSettings: swiftSettings),
        .executableTarget(
            name: "healthbus-\(folder)", dependencies: main + [.target(name: stage)], path: "plugins/\(folder)/Main",
            swiftSettings: swiftSettings),
    ]
}

func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(
        name: "\(name)Tests", dependencies: dependencies, path: "Tests/\(name)Tests",
        swiftSettings: swiftSettings)
}

let handlerDependencies: [Target.Dependency] = ["HealthModel", "HealthStatistics"]

/// A handler is one line here; programs and the simulation find it by its name. It needs no more than what is public, and gets no more.
let handlers = [
    plugin("steps", "StepsStage", handlerDependencies, packageAccess: false),
    plugin("heart-rate", "HeartRateStage", handlerDependencies, packageAccess: false),
    plugin("sleep", "SleepStage", handlerDependencies, packageAccess: false),
    plugin("energy", "EnergyStage", handlerDependencies, packageAccess: false),
    plugin("workouts", "WorkoutsStage", handlerDependencies, packageAccess: false),
    plugin("body", "BodyStage", handlerDependencies, packageAccess: false),
    plugin("hydration", "HydrationStage", handlerDependencies, packageAccess: false),
    plugin("generic", "GenericStage", handlerDependencies, packageAccess: false),
].flatMap { $0 }

let handlerStages = handlers.filter { $0.type == .regular }

let package = Package(
    name: "healthbus",
    targets: [
        // C libraries from Debian, each behind a narrow header.
        systemLibrary("CZeroMQ", "libzmq3-dev"),
        systemLibrary("CSQLite", "libsqlite3-dev"),
        systemLibrary("CLibCBOR", "libcbor-dev"),
        systemLibrary("CArchive", "libarchive-dev"),
        systemLibrary("CCurl", "libcurl4-openssl-dev"),
        systemLibrary("CMicroHTTPD", "libmicrohttpd-dev"),
        systemLibrary("CXXHash", "libxxhash-dev"),
        .target(name: "CXMLStream", path: "Sources/CXMLStream"),
        .target(name: "CPosix", path: "Sources/CPosix"),
        .executableTarget(name: "healthbus-trampoline", path: "Sources/Trampoline"),

        // Pure: the model and the figures.
        library("JSON", []),
        library("HealthModel", ["CXXHash", "JSON"]),
        library("HealthStatistics", ["HealthModel"]),
        library("BackgroundDelivery", ["HealthModel"]),

        // Effects at the edge.
        library("SQLite", ["CSQLite"]),
        library("HealthStore", ["HealthModel", "JSON", "SQLite"]),
        library("HealthImport", ["CArchive", "CXMLStream", "HealthModel", "JSON"]),
        library("HealthGenerator", ["CArchive", "HealthModel"]),
        library("HTTP", ["CCurl", "CMicroHTTPD"]),
        library("Protocol", ["BackgroundDelivery", "CLibCBOR", "HealthModel"]),
        library("MessageBus", ["CZeroMQ", "HealthModel", "Protocol"]),
        library("Changelog", ["HealthModel", "Protocol", "SQLite"]),
        library(
            "PluginKit",
            [
                "BackgroundDelivery", "CPosix", "Changelog", "Console", "HealthModel", "JSON", "MessageBus", "Protocol",
                "SQLite", "Supervisor",
            ]),
        library("Supervisor", ["CPosix"]),
        library(
            "Operations",
            [
                "BackgroundDelivery", "CPosix", "Changelog", "Console", "HTTP", "HealthImport", "HealthModel",
                "HealthStatistics", "HealthStore", "JSON", "MessageBus", "ObserverStage", "PluginKit", "Protocol",
                "SQLite", "SleepStage", "Supervisor", "UploaderStage", "WorkoutsStage",
            ]),
        library("Console", []),
        // Tries whether a plugin keeps the contract.
        library(
            "Conformance",
            [
                "Changelog", "Console", "ExecStage", "HealthModel", "JSON", "MessageBus", "Operations", "PluginKit",
                "Protocol", "Supervisor",
            ]),
        // All stages in one process, in virtual time.
        library(
            "Simulation",
            [
                "BackgroundDelivery", "Changelog", "Console", "ConsolidatorStage", "DebouncerStage", "HTTP",
                "HealthImport", "HealthModel", "JSON", "MessageBus", "ObserverStage", "Operations", "PluginKit",
                "Protocol", "SQLite", "UploaderStage",
            ], linked: handlerStages),
        .executableTarget(
            name: "healthbus",
            dependencies: [
                "BackgroundDelivery", "Conformance", "Console", "HealthGenerator", "HealthModel", "MessageBus",
                "Operations", "PluginKit", "Protocol", "Simulation", "Supervisor",
            ],
            path: "Sources/healthbus", swiftSettings: swiftSettings),
    ]
        + plugin(
            "hub", "HubStage", ["CZeroMQ", "HealthModel", "MessageBus", "Protocol"], main: ["MessageBus", "PluginKit"])
        + plugin(
            "observer", "ObserverStage",
            [
                "BackgroundDelivery", "Changelog", "HealthImport", "HealthModel", "HealthStatistics", "HealthStore",
                "MessageBus", "PluginKit", "Protocol", "SQLite",
            ], main: ["PluginKit"])
        + plugin(
            "debouncer", "DebouncerStage",
            ["BackgroundDelivery", "Changelog", "HealthModel", "MessageBus", "PluginKit", "Protocol", "SQLite"])
        + handlers
        // Hosts a handler in any language.
        + plugin("exec", "ExecStage", ["CPosix", "Console", "HealthModel", "JSON", "PluginKit", "Supervisor"])
        + plugin(
            "consolidator", "ConsolidatorStage",
            ["BackgroundDelivery", "Changelog", "HealthModel", "MessageBus", "PluginKit", "Protocol", "SQLite"])
        + plugin(
            "uploader", "UploaderStage",
            [
                "BackgroundDelivery", "Changelog", "Console", "HTTP", "HealthModel", "JSON", "MessageBus", "PluginKit",
                "Protocol", "SQLite",
            ], main: ["PluginKit"])
        + plugin(
            "notify", "NotifyStage",
            ["Changelog", "HTTP", "HealthModel", "MessageBus", "PluginKit", "Protocol", "SQLite"],
            main: ["PluginKit"])
        + plugin(
            "backend", "BackendStage", ["HTTP", "HealthModel", "JSON", "SQLite"],
            main: ["Console", "HTTP", "HealthModel", "PluginKit", "Protocol"])
        + [
            // How long tests wait, and for what.
            .target(
                name: "TestSupport", dependencies: ["BackgroundDelivery", "HealthModel", "Protocol"],
                path: "Tests/Support",
                swiftSettings: swiftSettings),
            tests("HealthModel", ["HealthModel", "TestSupport"]),
            tests("HealthStatistics", ["HealthModel", "HealthStatistics", "TestSupport"]),
            tests(
                "Handlers",
                [
                    "BodyStage", "EnergyStage", "GenericStage", "HealthModel", "HeartRateStage", "SleepStage",
                    "StepsStage", "TestSupport", "WorkoutsStage",
                ]),
            tests("BackgroundDelivery", ["BackgroundDelivery", "HealthModel", "TestSupport"]),
            tests("HealthStore", ["HealthModel", "HealthStore", "SQLite"]),
            tests("HealthImport", ["HealthGenerator", "HealthImport", "HealthModel", "TestSupport"]),
            tests("Backend", ["BackendStage", "HTTP", "HealthModel", "JSON", "SQLite", "TestSupport"]),
            tests("Uploader", ["HTTP", "HealthModel", "UploaderStage"]),
            tests(
                "Protocol",
                [
                    "CZeroMQ", "Changelog", "HealthGenerator", "HealthModel", "HubStage", "MessageBus", "Operations",
                    "PluginKit", "Protocol", "Supervisor", "TestSupport",
                ]),
            tests("Changelog", ["Changelog", "HealthModel", "Protocol", "SQLite", "TestSupport"]),
            tests(
                "PluginKit",
                [
                    "BackgroundDelivery", "CPosix", "Changelog", "Console", "ExecStage", "HealthModel", "HubStage",
                    "MessageBus", "PluginKit", "Protocol", "SQLite", "Supervisor", "TestSupport",
                ]),
            tests(
                "Stages",
                [
                    "BackgroundDelivery", "BodyStage", "Changelog", "Console", "ConsolidatorStage", "DebouncerStage",
                    "EnergyStage", "ExecStage", "GenericStage", "HTTP", "HealthImport", "HealthModel",
                    "HealthStatistics", "HealthStore", "HeartRateStage", "MessageBus", "NotifyStage", "ObserverStage",
                    "Operations", "PluginKit", "Protocol", "SQLite", "Simulation", "SleepStage", "StepsStage",
                    "TestSupport", "UploaderStage", "WorkoutsStage",
                ]),
            tests(
                "Operations",
                [
                    "BodyStage", "Changelog", "Console", "EnergyStage", "GenericStage", "HealthModel", "HeartRateStage",
                    "ObserverStage", "Operations", "PluginKit", "Protocol", "SleepStage", "StepsStage", "TestSupport",
                    "WorkoutsStage",
                ]),
            tests("Reliability", ["BackendStage", "CSQLite", "Changelog", "HTTP", "HealthModel", "SQLite"]),
            tests("Conformance", ["Conformance", "Console", "HealthModel", "PluginKit", "TestSupport"]),
            tests("Simulation", ["BackgroundDelivery", "HealthModel", "PluginKit", "Simulation", "TestSupport"]),
            tests("Supervisor", ["Console", "Supervisor", "TestSupport"]),
            tests(
                "EndToEnd",
                [
                    "CArchive", "Console", "HTTP", "HealthModel", "HubStage", "MessageBus", "PluginKit", "Protocol",
                    "SQLite", "Supervisor", "TestSupport",
                ]),
        ]
)

// An image is built without them: a changed test must not build all programs again.
if Context.environment["HEALTHBUS_WITHOUT_TESTS"] != nil {
    package.targets.removeAll { $0.type == .test || $0.name == "TestSupport" }
}
