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

func library(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: dependencies, path: "Sources/\(name)", swiftSettings: swiftSettings)
}

/// A plugin is a stage library, which tests and simulations import, and a thin executable.
func plugin(
    _ folder: String, _ stage: String, _ dependencies: [Target.Dependency], host: Target.Dependency = "PluginKit"
) -> [Target] {
    [
        .target(name: stage, dependencies: dependencies, path: "plugins/\(folder)/Stage", swiftSettings: swiftSettings),
        .executableTarget(
            name: "healthbus-\(folder)", dependencies: [.target(name: stage), host], path: "plugins/\(folder)/Main",
            swiftSettings: swiftSettings),
    ]
}

func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(
        name: "\(name)Tests", dependencies: dependencies + ["TestSupport"], path: "Tests/\(name)Tests",
        swiftSettings: swiftSettings)
}

let handlerDependencies: [Target.Dependency] = ["HealthModel", "HealthStatistics"]

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
        library("HealthModel", ["CXXHash"]),
        library("HealthStatistics", ["HealthModel"]),
        library("BackgroundDelivery", ["HealthModel"]),

        // Effects at the edge.
        library("SQLite", ["CSQLite"]),
        library("HealthStore", ["HealthModel", "SQLite"]),
        library("HealthImport", ["HealthModel", "CArchive", "CXMLStream"]),
        library("HealthGenerator", ["HealthModel", "CArchive"]),
        library("HTTP", ["HealthModel", "CCurl", "CMicroHTTPD"]),
        library("Wire", ["HealthModel", "CLibCBOR"]),
        library("MessageBus", ["Wire", "HealthModel", "CZeroMQ"]),
        library("Changelog", ["HealthModel", "SQLite", "Wire"]),
        library(
            "PluginKit",
            [
                "HealthModel", "BackgroundDelivery", "Wire", "MessageBus", "Changelog", "SQLite", "CPosix", "Console",
                "Supervisor",
            ]),
        library("Supervisor", ["CPosix"]),
        library(
            "Operations",
            [
                "Supervisor", "PluginKit", "MessageBus", "Wire", "HealthModel", "Changelog", "SQLite", "Console",
                "ObserverStage", "SleepStage", "WorkoutsStage", "UploaderStage", "HealthStore",
                "HealthGenerator", "HealthStatistics", "BackgroundDelivery", "CPosix",
                "HTTP",
            ]),
        library("Console", []),
        // Tries whether a plugin keeps the contract.
        library(
            "Conformance",
            ["HealthModel", "Wire", "MessageBus", "PluginKit", "Operations", "Supervisor", "Changelog", "Console"]),
        // All stages in one process, in virtual time.
        library(
            "Simulation",
            [
                "ObserverStage", "DebouncerStage", "ConsolidatorStage", "UploaderStage", "StepsStage",
                "HeartRateStage", "SleepStage", "EnergyStage", "WorkoutsStage", "BodyStage", "GenericStage",
                "Operations", "PluginKit", "Changelog", "SQLite", "Wire", "MessageBus", "HTTP", "HealthImport",
                "HealthModel", "BackgroundDelivery", "Console",
            ]),
        .executableTarget(
            name: "healthbus",
            dependencies: [
                "Operations", "Console", "Supervisor", "PluginKit", "HealthGenerator", "HealthModel",
                "BackgroundDelivery", "MessageBus", "Simulation", "Conformance",
            ],
            path: "Sources/healthbus", swiftSettings: swiftSettings),
    ]
        + plugin("hub", "HubStage", ["MessageBus", "Wire", "HealthModel"])
        + plugin(
            "observer", "ObserverStage",
            [
                "PluginKit", "HealthModel", "HealthStatistics", "HealthStore", "HealthImport", "Changelog", "SQLite",
                "BackgroundDelivery",
                "Wire", "MessageBus",
            ])
        + plugin(
            "debouncer", "DebouncerStage",
            ["PluginKit", "HealthModel", "BackgroundDelivery", "Changelog", "SQLite", "Wire", "MessageBus"])
        + plugin("steps", "StepsStage", handlerDependencies)
        + plugin("heart-rate", "HeartRateStage", handlerDependencies)
        + plugin("sleep", "SleepStage", handlerDependencies)
        + plugin("energy", "EnergyStage", handlerDependencies)
        + plugin("workouts", "WorkoutsStage", handlerDependencies)
        + plugin("body", "BodyStage", handlerDependencies)
        + plugin("generic", "GenericStage", handlerDependencies)
        + [
            // Hosts a handler in any language; what it decides is PluginKit's.
            .executableTarget(
                name: "healthbus-exec", dependencies: ["PluginKit"], path: "Sources/healthbus-exec",
                swiftSettings: swiftSettings)
        ]
        + plugin(
            "consolidator", "ConsolidatorStage",
            ["PluginKit", "HealthModel", "BackgroundDelivery", "Changelog", "SQLite", "Wire", "MessageBus"])
        + plugin(
            "uploader", "UploaderStage",
            ["PluginKit", "HealthModel", "BackgroundDelivery", "Changelog", "SQLite", "Wire", "MessageBus", "HTTP"])
        + plugin(
            "notify", "NotifyStage",
            ["PluginKit", "HealthModel", "Changelog", "SQLite", "Wire", "MessageBus", "HTTP"])
        + plugin("backend", "BackendStage", ["HealthModel", "SQLite", "HTTP"])
        + [
            // How long tests wait, and for what.
            .target(name: "TestSupport", path: "Tests/Support", swiftSettings: swiftSettings),
            tests("HealthModel", ["HealthModel"]),
            tests("HealthStatistics", ["HealthModel", "HealthStatistics"]),
            tests(
                "Handlers",
                [
                    "HealthModel", "HealthStatistics", "StepsStage", "HeartRateStage", "SleepStage", "EnergyStage",
                    "WorkoutsStage",
                    "BodyStage", "GenericStage",
                ]),
            tests("BackgroundDelivery", ["BackgroundDelivery", "HealthModel"]),
            tests("HealthStore", ["HealthModel", "HealthStore", "SQLite"]),
            tests("HealthImport", ["HealthModel", "HealthImport", "HealthGenerator"]),
            tests("Backend", ["BackendStage", "HTTP", "SQLite", "HealthModel"]),
            tests("Uploader", ["UploaderStage", "HTTP", "HealthModel", "PluginKit", "Wire"]),
            tests(
                "Wire",
                [
                    "Wire", "HealthModel", "MessageBus", "CZeroMQ", "Changelog", "PluginKit", "Supervisor",
                    "HealthGenerator", "Operations",
                ]),
            tests("Changelog", ["Changelog", "SQLite", "Wire", "HealthModel"]),
            tests(
                "PluginKit",
                [
                    "PluginKit", "BackgroundDelivery", "Changelog", "SQLite", "Wire", "MessageBus", "HealthModel",
                    "Supervisor", "CPosix", "Console",
                ]),
            tests(
                "Stages",
                [
                    "BackgroundDelivery", "ObserverStage", "DebouncerStage", "ConsolidatorStage", "UploaderStage",
                    "StepsStage", "HeartRateStage", "SleepStage", "GenericStage", "EnergyStage", "WorkoutsStage",
                    "BodyStage", "Operations", "PluginKit", "Changelog", "SQLite", "Wire", "MessageBus", "HTTP",
                    "HealthImport", "HealthModel", "HealthStatistics", "HealthStore", "NotifyStage", "Simulation",
                    "Console",
                ]),
            tests(
                "Operations",
                [
                    "Operations", "Console", "HealthModel", "HealthStatistics", "ObserverStage", "PluginKit",
                    "Changelog",
                    "Wire", "StepsStage", "HeartRateStage", "SleepStage", "EnergyStage", "WorkoutsStage", "BodyStage",
                    "GenericStage",
                ]),
            tests("Reliability", ["BackendStage", "Changelog", "SQLite", "CSQLite", "HTTP", "HealthModel"]),
            tests("Conformance", ["Conformance", "Console", "HealthModel", "PluginKit"]),
            tests("Simulation", ["Simulation", "BackgroundDelivery", "PluginKit", "HealthModel", "Supervisor"]),
            tests("Supervisor", ["Supervisor", "Console", "PluginKit"]),
            tests(
                "EndToEnd",
                [
                    "HealthModel", "Wire", "MessageBus", "SQLite", "HTTP", "Supervisor", "PluginKit", "CArchive",
                    "Console",
                ]),
        ]
)

// An image is built without them: a changed test must not build all programs again.
if Context.environment["HEALTHBUS_WITHOUT_TESTS"] != nil {
    package.targets.removeAll { $0.type == .test || $0.name == "TestSupport" }
}
