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
    _ folder: String, _ stage: String, _ dependencies: [Target.Dependency],
    main: [Target.Dependency] = ["HandlerKit", "StageKit"]
) -> [Target] {
    [
        .target(name: stage, dependencies: dependencies, path: "plugins/\(folder)/Stage", swiftSettings: swiftSettings),
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
        library("Logging", []),
        library("Terminal", ["Logging"]),
        library("Clocks", ["HealthModel"]),
        library("SQLite", ["CSQLite"]),
        library("HealthStore", ["HealthModel", "JSON", "SQLite"]),
        library("HealthImport", ["CArchive", "CXMLStream", "HealthModel", "JSON"]),
        library("HealthGenerator", ["CArchive", "HealthModel"]),
        library("HTTP", ["CCurl", "CMicroHTTPD"]),
        library("Protocol", ["BackgroundDelivery", "CLibCBOR", "HealthModel"]),
        library("MessageBus", ["BackgroundDelivery", "CZeroMQ", "Clocks", "HealthModel", "Protocol"]),
        library("Changelog", ["HealthModel", "Protocol", "SQLite"]),
        library(
            "Configuration",
            [
                "BackgroundDelivery", "CPosix", "Clocks", "HealthModel", "JSON", "Logging", "MessageBus", "Processes",
                "Protocol",
            ]),
        library(
            "Client",
            [
                "BackgroundDelivery", "Changelog", "Clocks", "Configuration", "HealthModel", "Logging", "MessageBus",
                "Protocol", "SQLite",
            ]),
        library(
            "StageKit",
            [
                "BackgroundDelivery", "CPosix", "Changelog", "Client", "Clocks", "Configuration", "HealthModel",
                "Logging", "MessageBus", "Protocol", "SQLite", "Terminal",
            ]),
        library(
            "HandlerKit",
            [
                "CPosix", "Changelog", "Client", "Configuration", "HealthModel", "JSON", "Logging", "MessageBus",
                "Processes", "Protocol", "SQLite", "StageKit",
            ]),
        library("Processes", ["CPosix"]),
        library("Supervisor", ["CPosix", "Processes"]),
        library(
            "Operations",
            [
                "BackgroundDelivery", "CPosix", "Changelog", "Client", "Clocks", "Configuration", "HTTP",
                "HealthImport", "HealthModel", "HealthStatistics", "HealthStore", "JSON", "Logging", "MessageBus",
                "ObserverStage", "Processes", "Protocol", "SQLite", "SleepStage", "StageKit", "Supervisor", "Terminal",
                "UploaderStage", "WorkoutsStage",
            ]),
        // Tries whether a plugin keeps the contract.
        library(
            "Conformance",
            [
                "Changelog", "Client", "Clocks", "Configuration", "HandlerKit", "HealthModel", "JSON", "Logging",
                "MessageBus", "Operations", "Processes", "Protocol", "StageKit", "Terminal",
            ]),
        // All stages in one process, in virtual time.
        library(
            "Simulation",
            [
                "BackgroundDelivery", "BodyStage", "Changelog", "Configuration", "ConsolidatorStage", "DebouncerStage",
                "EnergyStage", "GenericStage", "HTTP", "HandlerKit", "HealthImport", "HealthModel", "HeartRateStage",
                "JSON", "Logging", "MessageBus", "ObserverStage", "Operations", "Protocol", "SQLite", "SleepStage",
                "StageKit", "StepsStage", "UploaderStage", "WorkoutsStage",
            ]),
        .executableTarget(
            name: "healthbus",
            dependencies: [
                "BackgroundDelivery", "Client", "Clocks", "Configuration", "Conformance", "HealthGenerator",
                "HealthModel", "Logging", "Operations", "Processes", "Protocol", "Simulation", "StageKit", "Supervisor",
                "Terminal",
            ],
            path: "Sources/healthbus", swiftSettings: swiftSettings),
    ]
        + plugin(
            "hub", "HubStage", ["CZeroMQ", "Clocks", "HealthModel", "MessageBus", "Protocol"],
            main: ["Configuration", "MessageBus", "StageKit"])
        + plugin(
            "observer", "ObserverStage",
            [
                "BackgroundDelivery", "Changelog", "Configuration", "HealthImport", "HealthModel", "HealthStatistics",
                "HealthStore", "MessageBus", "Protocol", "SQLite", "StageKit",
            ], main: ["BackgroundDelivery", "Configuration", "HealthModel", "StageKit"])
        + plugin(
            "debouncer", "DebouncerStage",
            [
                "BackgroundDelivery", "Changelog", "Configuration", "HealthModel", "MessageBus", "Protocol", "SQLite",
                "StageKit",
            ], main: ["StageKit"])
        + plugin("steps", "StepsStage", handlerDependencies)
        + plugin("heart-rate", "HeartRateStage", handlerDependencies)
        + plugin("sleep", "SleepStage", handlerDependencies)
        + plugin("energy", "EnergyStage", handlerDependencies)
        + plugin("workouts", "WorkoutsStage", handlerDependencies)
        + plugin("body", "BodyStage", handlerDependencies)
        + plugin("generic", "GenericStage", handlerDependencies)
        + [
            // Hosts a handler in any language; what it decides is HandlerKit's.
            .executableTarget(
                name: "healthbus-exec", dependencies: ["HandlerKit", "StageKit"], path: "Sources/healthbus-exec",
                swiftSettings: swiftSettings)
        ]
        + plugin(
            "consolidator", "ConsolidatorStage",
            [
                "BackgroundDelivery", "Changelog", "Configuration", "HealthModel", "MessageBus", "Protocol", "SQLite",
                "StageKit",
            ], main: ["StageKit"])
        + plugin(
            "uploader", "UploaderStage",
            [
                "BackgroundDelivery", "Changelog", "Configuration", "HTTP", "HealthModel", "JSON", "Logging",
                "MessageBus", "Protocol", "SQLite", "StageKit",
            ], main: ["Configuration", "HTTP", "HealthModel", "StageKit"])
        + plugin(
            "notify", "NotifyStage",
            ["Changelog", "Configuration", "HTTP", "HealthModel", "MessageBus", "Protocol", "SQLite", "StageKit"],
            main: ["Configuration", "HealthModel", "Protocol", "StageKit"])
        + plugin(
            "backend", "BackendStage", ["HTTP", "HealthModel", "JSON", "SQLite"],
            main: ["Configuration", "HTTP", "HealthModel", "Logging", "Protocol", "StageKit"])
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
                    "CZeroMQ", "Changelog", "Client", "Clocks", "Configuration", "HealthGenerator", "HealthModel",
                    "HubStage", "MessageBus", "Operations", "Processes", "Protocol", "StageKit", "TestSupport",
                ]),
            tests("Changelog", ["Changelog", "HealthModel", "Protocol", "SQLite", "TestSupport"]),
            tests(
                "PluginKit",
                [
                    "BackgroundDelivery", "CPosix", "Changelog", "Client", "Clocks", "Configuration", "HandlerKit",
                    "HealthModel", "HubStage", "Logging", "MessageBus", "Processes", "Protocol", "SQLite", "StageKit",
                    "TestSupport",
                ]),
            tests(
                "Stages",
                [
                    "BackgroundDelivery", "BodyStage", "Changelog", "Configuration", "ConsolidatorStage",
                    "DebouncerStage", "EnergyStage", "GenericStage", "HTTP", "HandlerKit", "HealthImport",
                    "HealthModel", "HealthStatistics", "HealthStore", "HeartRateStage", "Logging", "MessageBus",
                    "NotifyStage", "ObserverStage", "Operations", "Protocol", "SQLite", "Simulation", "SleepStage",
                    "StageKit", "StepsStage", "TestSupport", "UploaderStage", "WorkoutsStage",
                ]),
            tests(
                "Operations",
                [
                    "BodyStage", "Changelog", "Configuration", "EnergyStage", "GenericStage", "HealthModel",
                    "HeartRateStage", "Logging", "ObserverStage", "Operations", "Protocol", "SleepStage", "StageKit",
                    "StepsStage", "Terminal", "TestSupport", "WorkoutsStage",
                ]),
            tests("Reliability", ["BackendStage", "CSQLite", "Changelog", "HTTP", "HealthModel", "SQLite"]),
            tests("Conformance", ["Configuration", "Conformance", "HealthModel", "Terminal", "TestSupport"]),
            tests("Simulation", ["BackgroundDelivery", "Configuration", "HealthModel", "Simulation", "TestSupport"]),
            tests("Supervisor", ["Logging", "Processes", "Supervisor", "Terminal", "TestSupport"]),
            tests(
                "EndToEnd",
                [
                    "CArchive", "Clocks", "Configuration", "HTTP", "HealthModel", "HubStage", "Logging", "MessageBus",
                    "Processes", "Protocol", "SQLite", "Terminal", "TestSupport",
                ]),
        ]
)

// An image is built without them: a changed test must not build all programs again.
if Context.environment["HEALTHBUS_WITHOUT_TESTS"] != nil {
    package.targets.removeAll { $0.type == .test || $0.name == "TestSupport" }
}
