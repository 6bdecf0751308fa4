// swift-tools-version: 6.2
import PackageDescription

// Swift 6 language mode everywhere. Warnings are errors in every build, set here rather than by a flag, so that all
// builds are the same.
let swiftSettings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error),
]

let unoptimized: [SwiftSetting] = [.unsafeFlags(["-Onone"])]

func systemLibrary(_ name: String, _ debianPackage: String) -> Target {
    .systemLibrary(name: name, path: "Sources/\(name)", providers: [.apt([debianPackage])])
}

/// - Parameter linked: targets that the library is linked with but doesn't import.
func library(_ name: String, _ dependencies: [Target.Dependency] = [], linked: [Target] = []) -> Target {
    .target(
        name: name, dependencies: dependencies + linked.map { .target(name: $0.name) }, path: "Sources/\(name)",
        swiftSettings: swiftSettings)
}

/// Commands run for a moment, and the libraries below do their work: optimizing them takes several times as long as it
/// saves.
func tool(_ name: String, _ dependencies: [Target.Dependency] = [], linked: [Target] = []) -> Target {
    .target(
        name: name, dependencies: dependencies + linked.map { .target(name: $0.name) }, path: "Sources/\(name)",
        swiftSettings: swiftSettings + unoptimized)
}

/// A plugin is a stage library, which tests and simulations import, and a thin executable. Without one of its own,
/// `healthbus-stages` runs it, under its name.
func plugin(
    _ folder: String, _ stage: String, _ dependencies: [Target.Dependency], main: [Target.Dependency]? = nil,
    packageAccess: Bool = true
) -> [Target] {
    let library = Target.target(
        name: stage, dependencies: dependencies, path: "plugins/\(folder)/Stage", packageAccess: packageAccess,
        swiftSettings: swiftSettings)
    guard let main else { return [library] }
    return [
        library,
        .executableTarget(
            name: "healthbus-\(folder)", dependencies: main + [.target(name: stage)], path: "plugins/\(folder)/Main",
            swiftSettings: swiftSettings),
    ]
}

/// What a plugin shares with the tools. `Reading` contains its tables, the answers made from them, and whatever depends
/// only on those.
func part(_ folder: String, _ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .target(name: name, dependencies: dependencies, path: "plugins/\(folder)", swiftSettings: swiftSettings)
}

/// Tests aren't optimized: optimizing takes several times as long as it saves. The code they test is.
func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(
        name: "\(name)Tests", dependencies: dependencies, path: "Tests/\(name)Tests",
        swiftSettings: swiftSettings + unoptimized)
}

let handlerDependencies: [Target.Dependency] = ["HealthModel", "HealthStatistics"]

/// A handler is one line here; programs and the simulation find it by its name. It needs only public declarations, and
/// has no access to anything else.
let handlers = [
    plugin("steps", "StepsStage", handlerDependencies, packageAccess: false),
    plugin("heart-rate", "HeartRateStage", handlerDependencies, packageAccess: false),
    plugin("sleep", "SleepStage", handlerDependencies, packageAccess: false),
    plugin("energy", "EnergyStage", handlerDependencies, packageAccess: false),
    plugin("workouts", "WorkoutsStage", handlerDependencies, packageAccess: false),
    plugin("body", "BodyStage", handlerDependencies, packageAccess: false),
    plugin("hydration", "HydrationStage", handlerDependencies, packageAccess: false),
    plugin("places", "PlacesStage", handlerDependencies, packageAccess: false),
    plugin("generic", "GenericStage", handlerDependencies, packageAccess: false),
].flatMap { $0 }

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
        systemLibrary("CSodium", "libsodium-dev"),
        systemLibrary("CQREncode", "libqrencode-dev"),
        systemLibrary("CZlib", "zlib1g-dev"),
        systemLibrary("CGnuTLS", "libgnutls28-dev"),
        systemLibrary("CPostgreSQL", "libpq-dev"),
        systemLibrary("CMosquitto", "libmosquitto-dev"),
        .target(name: "CXMLStream", path: "Sources/CXMLStream"),
        .target(name: "CPosix", path: "Sources/CPosix"),
        .executableTarget(name: "healthbus-trampoline", path: "Sources/Trampoline"),

        // Pure: the model and the figures.
        library("JSON", []),
        library("Digest", ["CSodium"]),
        library("HealthModel", ["CXXHash", "JSON"]),
        library("HealthStatistics", ["HealthModel", "JSON"]),
        library("BackgroundDelivery", ["HealthModel"]),
        // FHIR's resources, and Open mHealth's data points.
        library("HealthResources", ["HealthModel", "JSON"]),

        // Effects at the edge.
        library("SQLite", ["CSQLite"]),
        library("PostgreSQL", ["CPosix", "CPostgreSQL"]),
        library("MQTT", ["CMosquitto", "CPosix"]),
        library("HealthStore", ["HealthModel", "JSON", "SQLite"]),
        library("HealthImport", ["CArchive", "CXMLStream", "CXXHash", "HealthModel", "JSON"]),
        library("HealthPush", ["HealthModel", "HealthStatistics", "JSON"]),
        library("HealthGenerator", ["CArchive", "HealthModel"]),
        library("HTTP", ["CCurl", "CGnuTLS", "CMicroHTTPD", "CPosix", "CXXHash", "CZlib"]),
        library("Protocol", ["BackgroundDelivery", "CLibCBOR", "HealthModel"]),
        library("MessageBus", ["BackgroundDelivery", "CZeroMQ", "Clocks", "HealthModel", "Protocol"]),
        library("Changelog", ["HealthModel", "Protocol", "SQLite"]),
        library("Processes", ["CPosix", "HealthModel"]),
        tool("QRCode", ["CQREncode"]),
        library(
            "Configuration",
            [
                "BackgroundDelivery", "CPosix", "CSodium", "Clocks", "HealthModel", "JSON", "Logging", "MessageBus",
                "Processes", "Protocol",
            ]),
        library("HealthViews", ["Configuration", "HealthModel"]),
        // The protocol that assistants speak; pure.
        tool("ModelContext", ["HealthModel"]),
        library("PostgresStore", ["HealthModel", "HealthViews", "PostgreSQL"]),
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
                "Changelog", "Client", "Clocks", "Configuration", "HealthModel", "Logging", "MessageBus", "Protocol",
                "SQLite",
                "StageKit",
            ]),
        part(
            "exec/Dialogue", "ExecDialogue",
            ["CPosix", "Configuration", "HealthModel", "JSON", "Processes", "Protocol", "StageKit"]),
        part(
            "observer/Reading", "ObserverReading",
            [
                "BackgroundDelivery", "Changelog", "HealthModel", "HealthPush", "HealthStore", "MessageBus", "Protocol",
                "SQLite", "StageKit",
            ]),
        part("backend/Reading", "BackendReading", ["HealthModel", "HealthViews", "SQLite"]),
        library(
            "DeliveryKit",
            [
                "BackgroundDelivery", "Changelog", "Configuration", "HealthModel", "Logging", "MessageBus", "Processes",
                "Protocol", "SQLite", "StageKit",
            ]),
        part(
            "uploader/Reading", "UploaderReading",
            ["Configuration", "DeliveryKit", "HealthModel", "JSON", "Protocol"]),
        tool("Supervisor", ["CPosix", "Processes"]),
        // The tools: commands that look at a stack, by what a person asks, and commands that act on it.
        tool(
            "Inspection",
            [
                "BackendReading", "BackgroundDelivery", "Changelog", "Client", "Clocks", "Configuration", "DeliveryKit",
                "HealthModel",
                "HealthPush", "HealthViews", "JSON", "Logging", "MessageBus", "ObserverReading", "Processes",
                "Protocol", "SQLite", "StageKit", "Terminal",
            ]),
        tool(
            "Monitoring",
            [
                "BackgroundDelivery", "CPosix", "Changelog", "Client", "Clocks", "Configuration", "DeliveryKit", "HTTP",
                "HandlerKit", "HealthModel", "Inspection", "JSON", "Logging", "MessageBus", "Protocol", "StageKit",
                "Terminal",
            ]),
        tool(
            "Figures",
            [
                "Changelog", "Client", "Configuration", "HealthModel", "HealthStatistics", "HealthViews", "Inspection",
                "JSON", "Logging", "Protocol", "Terminal",
            ]),
        tool(
            "Doctor",
            [
                "BackgroundDelivery", "Changelog", "Client", "Clocks", "Configuration", "DeliveryKit", "HTTP",
                "HealthModel", "HealthResources", "HealthStore", "Inspection", "Logging", "MessageBus", "Monitoring",
                "Processes", "Protocol", "SQLite", "StageKit", "Terminal", "UploaderReading",
            ]),
        tool(
            "Assistant",
            [
                "Client", "Configuration", "Figures", "HealthModel", "HealthViews", "Inspection", "JSON", "Logging",
                "ModelContext", "Monitoring", "Protocol", "Terminal",
            ]),
        tool(
            "Control",
            [
                "BackgroundDelivery", "Changelog", "Client", "Clocks", "Configuration", "DeliveryKit", "Doctor", "HTTP",
                "HealthImport", "HealthModel", "HealthPush", "HealthStore", "Inspection", "JSON", "Logging",
                "MessageBus", "Monitoring", "Processes", "Protocol", "SQLite", "StageKit", "Supervisor", "Terminal",
                "UploaderReading",
            ]),
        library("Logging", []),
        tool("Terminal", ["Logging"]),
        library("Clocks", ["HealthModel"]),
        // Tests whether a plugin honors the contract.
        tool(
            "Conformance",
            [
                "Changelog", "Client", "Clocks", "Configuration", "Control", "DeliveryKit", "ExecDialogue", "HTTP",
                "HandlerKit", "HealthModel", "JSON", "Logging", "MessageBus", "Processes", "Protocol", "StageKit",
                "Terminal", "UploaderReading",
            ]),
        // All stages in one process, in virtual time.
        library(
            "Simulation",
            [
                "BackgroundDelivery", "Changelog", "Configuration", "ConsolidatorStage", "DebouncerStage",
                "DeliveryKit", "HTTP", "HandlerKit", "HealthModel", "JSON", "Logging", "MessageBus", "ObserverReading",
                "ObserverStage", "Protocol", "SQLite", "StageKit", "UploaderStage",
            ], linked: handlers),
        .executableTarget(
            name: "healthbus",
            dependencies: [
                "Assistant", "BackgroundDelivery", "Client", "Clocks", "Configuration", "Conformance", "Control",
                "DeliveryKit", "Doctor", "Figures", "HTTP", "HealthGenerator", "HealthModel", "HealthPush",
                "HealthStatistics", "Inspection", "Logging", "ModelContext", "Monitoring", "Processes", "Protocol",
                "QRCode", "Simulation",
                "StageKit", "Supervisor", "Terminal", "UploaderReading",
            ],
            path: "Sources/healthbus", swiftSettings: swiftSettings + unoptimized),
        // Most stages need no other libraries than those of the bus and of their stores. One program for all of them is
        // in memory once.
        .executableTarget(
            name: "healthbus-stages",
            dependencies: [
                "Configuration", "ConsolidatorStage", "DebouncerStage", "ExecStage", "HandlerKit", "HubStage",
                "Logging", "MessageBus", "StageKit",
            ] + handlers.map { .target(name: $0.name) },
            path: "Sources/Stages", swiftSettings: swiftSettings),
    ]
        + plugin(
            "hub", "HubStage", ["CZeroMQ", "Clocks", "HealthModel", "MessageBus", "Protocol"])
        + plugin(
            "observer", "ObserverStage",
            [
                "BackgroundDelivery", "Changelog", "Configuration", "HealthImport", "HealthModel", "HealthPush",
                "HealthStatistics", "HealthStore", "Logging", "MessageBus", "ObserverReading", "Protocol",
                "SQLite", "StageKit",
            ], main: ["Configuration", "StageKit"])
        + plugin(
            "debouncer", "DebouncerStage",
            [
                "BackgroundDelivery", "Changelog", "Configuration", "HealthModel", "Logging", "MessageBus", "Protocol",
                "SQLite", "StageKit",
            ])
        + handlers
        // Hosts a handler in any language.
        + plugin(
            "exec", "ExecStage",
            [
                "CPosix", "Configuration", "ExecDialogue", "HandlerKit", "HealthModel", "Logging", "MessageBus",
                "Processes", "StageKit",
            ])
        + plugin(
            "consolidator", "ConsolidatorStage",
            [
                "BackgroundDelivery", "Changelog", "Configuration", "HealthModel", "MessageBus", "Protocol", "SQLite",
                "StageKit",
            ])
        + plugin(
            "uploader", "UploaderStage",
            [
                "Configuration", "DeliveryKit", "HTTP", "HealthModel", "Protocol", "StageKit",
                "UploaderReading",
            ], main: ["Configuration", "StageKit"])
        // Files as a destination.
        + plugin(
            "files", "FilesStage",
            [
                "Changelog", "Configuration", "DeliveryKit", "Digest", "HealthModel",
                "HealthResources", "JSON", "MessageBus", "Protocol", "SQLite", "StageKit",
            ], main: ["StageKit"])
        + plugin(
            "postgres", "PostgresStage",
            [
                "Configuration", "DeliveryKit", "HealthModel", "HealthViews", "Logging", "PostgreSQL",
                "PostgresStore", "StageKit",
            ], main: ["StageKit"])
        // Daily figures as sensors.
        + plugin(
            "home-assistant", "HomeAssistantStage",
            [
                "Changelog", "Client", "Configuration", "DeliveryKit", "HealthModel", "MQTT", "MessageBus", "Protocol",
                "SQLite", "StageKit",
            ], main: ["StageKit"])
        // FHIR servers as a destination.
        + plugin(
            "fhir", "FHIRStage",
            [
                "Configuration", "DeliveryKit", "HTTP", "HealthModel", "HealthResources", "JSON", "StageKit",
            ], main: ["StageKit"])
        + plugin(
            "notify", "NotifyStage",
            ["Changelog", "Configuration", "HTTP", "HealthModel", "MessageBus", "Protocol", "SQLite", "StageKit"],
            main: ["Configuration", "Protocol", "StageKit"])
        + plugin(
            "backend", "BackendStage",
            ["HTTP", "HealthModel", "HealthViews", "JSON", "PostgreSQL", "PostgresStore", "Protocol", "SQLite"],
            main: [
                "Configuration", "HTTP", "HealthModel", "HealthViews", "Logging", "MessageBus", "Protocol", "StageKit",
            ])
        + plugin(
            "ingest", "IngestStage",
            [
                "BackgroundDelivery", "Client", "Clocks", "Configuration", "HTTP", "HealthModel", "HealthPush",
                "HealthStore", "JSON", "MessageBus", "Protocol",
            ],
            main: [
                "Client", "Clocks", "Configuration", "HTTP", "HealthModel", "Logging", "MessageBus", "Protocol",
                "StageKit",
            ])
        // The web page, and its data.
        + plugin(
            "dashboard", "DashboardStage",
            [
                "BackgroundDelivery", "Client", "Clocks", "Configuration", "Doctor", "Figures", "HTTP", "HealthModel",
                "Inspection", "JSON", "Logging", "MessageBus", "Monitoring", "Protocol", "StageKit",
            ],
            main: [
                "Client", "Clocks", "Configuration", "HTTP", "HealthModel", "Inspection", "Logging", "MessageBus",
                "Protocol", "StageKit",
            ])
        + [
            // What `make bench` measures without processes.
            .executableTarget(
                name: "healthbus-bench", dependencies: ["HealthModel", "Protocol"], path: "Benchmarks/Codec",
                swiftSettings: swiftSettings),
            // How long tests wait, and what they wait for.
            .target(
                name: "TestSupport", dependencies: ["BackgroundDelivery", "HealthModel", "Protocol"],
                path: "Tests/Support",
                swiftSettings: swiftSettings),
            // Decoders of external bytes, and the rules that they must obey, for `make fuzz` and for the tests.
            .target(
                name: "FuzzTargets",
                dependencies: ["CXMLStream", "CZlib", "HealthImport", "HealthModel", "HealthPush", "JSON", "Protocol"],
                path: "Tests/Fuzz/Targets", swiftSettings: swiftSettings),
            tests("Fuzz", ["FuzzTargets", "TestSupport"]),
            tests("HealthModel", ["HealthModel", "JSON", "TestSupport"]),
            tests("HealthStatistics", ["HealthModel", "HealthStatistics", "TestSupport"]),
            tests(
                "Handlers",
                [
                    "BodyStage", "EnergyStage", "GenericStage", "HealthModel", "HealthStatistics", "HeartRateStage",
                    "SleepStage", "StepsStage", "TestSupport", "WorkoutsStage",
                ]),
            tests(
                "HealthGenerator",
                [
                    "EnergyStage", "Figures", "HealthGenerator", "HealthImport", "HealthModel", "HealthStatistics",
                    "HeartRateStage", "Inspection", "SleepStage", "StepsStage", "TestSupport", "WorkoutsStage",
                ]),
            tests("BackgroundDelivery", ["BackgroundDelivery", "HealthModel", "TestSupport"]),
            tests("HealthStore", ["HealthModel", "HealthStore", "SQLite", "TestSupport"]),
            tests("HealthPush", ["HealthModel", "HealthPush", "JSON", "TestSupport"]),
            tests(
                "HealthImport",
                ["HealthGenerator", "HealthImport", "HealthModel", "HealthStatistics", "TestSupport"]),
            tests(
                "Backend",
                [
                    "BackendReading", "BackendStage", "DeliveryKit", "HTTP", "HealthModel", "PostgreSQL", "Protocol",
                    "SQLite", "TestSupport", "UploaderReading",
                ]),
            tests("HealthViews", ["Configuration", "HealthViews", "SQLite", "TestSupport"]),
            tests("ModelContext", ["HealthModel", "ModelContext", "TestSupport"]),
            tests(
                "Files",
                ["Configuration", "Digest", "FilesStage", "HealthModel", "Protocol", "TestSupport"]),
            tests("HealthResources", ["HealthModel", "HealthResources"]),
            tests(
                "Payloads",
                [
                    "FilesStage", "GenericStage", "HealthImport", "HealthModel", "HealthPush", "HealthResources",
                    "TestSupport", "UploaderReading",
                ]),
            tests(
                "FHIR",
                [
                    "DeliveryKit", "FHIRStage", "HTTP", "HealthModel", "HealthResources", "StageKit", "TestSupport",
                    "UploaderReading",
                ]),
            tests(
                "Postgres",
                [
                    "DeliveryKit", "HealthModel", "PostgreSQL", "PostgresStage", "PostgresStore", "Protocol",
                    "StageKit",
                    "TestSupport",
                ]),
            tests(
                "HomeAssistant",
                ["Configuration", "HealthModel", "HomeAssistantStage", "MQTT", "TestSupport"]),
            tests(
                "Dashboard",
                [
                    "Configuration", "DashboardStage", "Figures", "HTTP", "HealthModel", "Inspection", "Monitoring",
                    "Protocol", "TestSupport",
                ]),
            tests("HTTP", ["CZlib", "HTTP", "HealthModel", "TestSupport"]),
            tests(
                "Uploader",
                [
                    "DeliveryKit", "HTTP", "HealthModel", "Logging", "Protocol", "TestSupport", "UploaderReading",
                    "UploaderStage",
                ]),
            tests(
                "Protocol",
                [
                    "CZeroMQ", "Changelog", "Client", "Clocks", "Configuration", "Control", "HTTP", "HealthGenerator",
                    "HealthModel", "HubStage", "MessageBus", "Monitoring", "Processes", "Protocol", "SQLite",
                    "StageKit", "TestSupport",
                ]),
            tests("Changelog", ["Changelog", "Configuration", "HealthModel", "Protocol", "SQLite", "TestSupport"]),
            tests(
                "Configuration",
                [
                    "BackgroundDelivery", "CPosix", "Changelog", "Client", "Configuration", "ExecDialogue",
                    "ExecStage", "HandlerKit", "HealthModel", "Logging", "MessageBus", "Processes", "Protocol",
                    "SQLite", "StageKit", "TestSupport",
                ]),
            .target(name: "CFaultyDisk", dependencies: ["CSQLite"], path: "Tests/FaultyDisk"),
            tests(
                "Stages",
                [
                    "BackgroundDelivery", "BodyStage", "CFaultyDisk", "Changelog", "Client", "Clocks", "Configuration",
                    "ConsolidatorStage", "DebouncerStage", "DeliveryKit", "Doctor", "EnergyStage", "ExecDialogue",
                    "ExecStage", "FHIRStage",
                    "FilesStage", "GenericStage", "HTTP", "HandlerKit", "HealthImport", "HealthModel", "HealthPush",
                    "HealthResources", "HealthStatistics", "HealthStore", "HeartRateStage", "HomeAssistantStage",
                    "IngestStage", "Inspection", "Logging", "MQTT", "MessageBus", "NotifyStage", "ObserverReading",
                    "ObserverStage", "PlacesStage", "PostgreSQL", "PostgresStage", "PostgresStore", "Protocol",
                    "SQLite", "Simulation", "SleepStage", "StageKit", "StepsStage", "TestSupport", "UploaderStage",
                    "WorkoutsStage",
                ]),
            tests(
                "Tools",
                [
                    "Assistant", "BackgroundDelivery", "BodyStage", "Changelog", "Client", "Configuration", "Control",
                    "DeliveryKit", "Doctor", "EnergyStage", "Figures", "GenericStage", "HealthModel", "HealthPush",
                    "HealthResources", "HealthStatistics", "HealthStore", "HealthViews", "HeartRateStage", "Inspection",
                    "Logging", "MessageBus", "ModelContext", "Monitoring", "Protocol", "SQLite", "SleepStage",
                    "StageKit", "StepsStage", "Terminal", "TestSupport", "UploaderReading", "WorkoutsStage",
                ]),
            tests(
                "Reliability", ["BackendStage", "CSQLite", "Changelog", "HTTP", "HealthModel", "SQLite", "TestSupport"]),
            tests("Conformance", ["Configuration", "Conformance", "HTTP", "HealthModel", "Terminal", "TestSupport"]),
            tests(
                "Simulation",
                ["BackgroundDelivery", "Configuration", "HandlerKit", "HealthModel", "Simulation", "TestSupport"]),
            tests(
                "Supervisor",
                ["CQREncode", "Logging", "Processes", "QRCode", "Supervisor", "Terminal", "TestSupport"]),
            tests(
                "EndToEnd",
                [
                    "CArchive", "CPosix", "Clocks", "Configuration", "Digest", "HTTP", "HealthModel", "HealthStore",
                    "HubStage", "Logging",
                    "MessageBus", "PostgreSQL", "Processes", "Protocol", "SQLite", "Supervisor", "Terminal",
                    "TestSupport",
                ]),
        ]
)

// A container image is built without tests, so that a changed test doesn't cause all programs to be rebuilt.
if Context.environment["HEALTHBUS_WITHOUT_TESTS"] != nil {
    let others = ["FuzzTargets", "TestSupport", "healthbus-bench"]
    package.targets.removeAll { $0.type == .test || others.contains($0.name) }
}

// The program that `make fuzz` runs uses libFuzzer's main, which only that build links.
if Context.environment["HEALTHBUS_WITH_FUZZER"] != nil {
    package.targets.append(
        .executableTarget(
            name: "healthbus-fuzz", dependencies: ["FuzzTargets"], path: "Tests/Fuzz/Main",
            swiftSettings: swiftSettings + [.unsafeFlags(["-parse-as-library"])]))
}
