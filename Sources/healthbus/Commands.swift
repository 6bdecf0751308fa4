import Console

/// Every command, with what it takes.
enum Commands {
    private static let stackOptions: [CommandHelp.Option] = [
        .init(
            "--state", value: "folder",
            help: "the stack's state folder (default: HEALTHBUS_STATE, else ~/.local/state/healthbus)"),
        config,
    ]
    private static let config = CommandHelp.Option(
        "--config", value: "file", help: "a configuration to lay over the default one")
    private static let json = CommandHelp.Option(
        "--json", help: "one JSON value on standard output, nothing else there")

    private static func user(_ help: String) -> CommandHelp.Option { .init("--user", value: "name", help: help) }

    static let all = CommandSet(
        program: "healthbus",
        summary:
            "Takes your HealthKit data, keeps every sample once, makes faithful daily figures and delivers both to your backend.",
        commands: [
            (
                "up",
                CommandHelp(
                    name: "healthbus up", summary: "Start the stack; Ctrl-C stops it.",
                    options: stackOptions + [
                        .init(
                            "--import", value: "file", repeats: true, help: "import this export once the stack is ready"
                        ),
                        user("whose samples the imports are (default: me)"),
                        .init(
                            "--zone", value: "IANA name", help: "where days begin; acts on a state's first start only"),
                        .init(
                            "--until-idle", help: "end with 0 once everything is delivered and every past day is final"),
                        json,
                    ],
                    examples: ["healthbus up", "healthbus up --import export.zip --zone Europe/Berlin --until-idle"])
            ),
            (
                "demo",
                CommandHelp(
                    name: "healthbus demo",
                    summary: "Start the stack on a made-up person's export, or on yours, and show what comes out.",
                    options: [
                        .init(
                            "--state", value: "folder",
                            help: "the stack's state folder (default: as for up, with -demo at its end when made up)"),
                        config,
                        .init("--export", value: "file", help: "your own export instead of a made-up one"),
                        .init(
                            "--zone", value: "IANA name",
                            help: "where days begin (default: Europe/Berlin made up, else the machine's)"),
                    ],
                    examples: ["healthbus demo", "healthbus demo --export export.zip"])
            ),
            (
                "run",
                CommandHelp(
                    name: "healthbus run",
                    summary: "Run one process of the stack (as status names it) in the foreground.",
                    positionals: [.init("instance")],
                    options: stackOptions + [
                        .init("--standby", help: "wait for the running one to end"),
                        .init("--takeover", help: "end the running one and take its place"),
                    ],
                    examples: ["healthbus run steps --takeover"])
            ),
            (
                "import",
                CommandHelp(
                    name: "healthbus import", summary: "Hand exports (export.zip or XML) over to the running stack.",
                    positionals: [.init("file", repeats: true)],
                    options: stackOptions + [
                        user("whose samples they are (default: me)"),
                        .init(
                            "--complete",
                            help: "it is all there is: delete what it lacks of the types and the time that it covers"),
                        .init("--dry-run", help: "read everything and change nothing; say what would be"),
                        .init(
                            "--delete-up-to", value: "percent",
                            help: "with --complete: delete nothing if it were more of what it covers (default: 5)"),
                        json,
                    ],
                    examples: [
                        "healthbus import export.zip", "healthbus import --json --user anna ~/Downloads/export.zip",
                        "healthbus import --complete --dry-run export.zip",
                    ])
            ),
            (
                "generate",
                CommandHelp(
                    name: "healthbus generate", summary: "Write the export of a made-up person.",
                    options: [
                        .init("--days", value: "number", help: "how many days (default: 90)"),
                        .init("--seed", value: "number", help: "another seed is another person (default: 1)"),
                        .init(
                            "--records", value: "number", help: "exactly so many records, instead of a usual density"),
                        .init("--zone", value: "IANA name", help: "where the person lives (default: Europe/Berlin)"),
                        .init("--end", value: "date", help: "the last day (default: 2025-04-05)"),
                        .init("--units", value: "system", help: "metric or imperial (default: metric)"),
                        .init("--output", short: "-o", value: "file", help: "where to write the zip"), json,
                    ],
                    examples: ["healthbus generate --days 90 --seed 1 -o export.zip"])
            ),
            (
                "simulate",
                CommandHelp(
                    name: "healthbus simulate",
                    summary: "Live a phone's days in seconds, and measure how each way of background delivery does.",
                    options: [
                        .init("--days", value: "number", help: "how many days (default: 30)"),
                        .init("--seed", value: "number", help: "another seed is another life (default: 1)"),
                        .init(
                            "--strategy", value: "name",
                            help:
                                "background-delivery, app-refresh, silent-push, processing, combined or naive (default: all)"
                        ),
                        .init(
                            "--life", value: "kind",
                            help: "usual, or worst: seldom opened, often killed and offline (default: usual)"),
                        config, json,
                    ],
                    examples: [
                        "healthbus simulate --days 30 --seed 42",
                        "healthbus simulate --strategy combined --life worst --json",
                    ])
            ),
            (
                "status",
                CommandHelp(
                    name: "healthbus status", summary: "Show processes, freshness of each metric, and what waits.",
                    options: stackOptions + [json], examples: ["healthbus status", "healthbus status --json"])
            ),
            (
                "days",
                CommandHelp(
                    name: "healthbus days",
                    summary:
                        "Show the daily summaries. A narrow terminal gets fewer columns; a pipe and --json get all.",
                    options: stackOptions + [
                        .init("--from", value: "date", help: "first day, as 2025-03-30"),
                        .init("--to", value: "date", help: "last day"),
                        user("whose days (default: me)"), json,
                    ],
                    examples: ["healthbus days --from 2025-03-24 --to 2025-03-30", "healthbus days --json"])
            ),
            (
                "explain",
                CommandHelp(
                    name: "healthbus explain",
                    summary: "Show why a day's figure is what it is: which source counted when, and what it added.",
                    positionals: [.init("metric"), .init("date")],
                    options: stackOptions + [
                        .init("--hour", help: "by hour"),
                        .init("--all", help: "every interval and sample by itself, however many"),
                        user("whose day (default: me)"), json,
                    ],
                    examples: [
                        "healthbus explain steps 2025-03-30", "healthbus explain sleep 2025-03-30 --json",
                        "healthbus explain DistanceCycling 2025-03-30 --hour",
                    ])
            ),
            (
                "check",
                CommandHelp(
                    name: "healthbus check",
                    summary: "Hold the figures against Apple's rings, and show what is missing or came late.",
                    options: stackOptions + [
                        .init("--from", value: "date", help: "first day, as 2025-03-30"),
                        .init("--to", value: "date", help: "last day"),
                        .init(
                            "--tolerance", value: "number",
                            help: "what figures may differ by, in kcal and min, or as 2% (default: 1 or 1%, the larger)"
                        ),
                        user("whose days (default: me)"), json,
                    ],
                    examples: ["healthbus check", "healthbus check --from 2025-01-01 --tolerance 5%"])
            ),
            (
                "zone",
                CommandHelp(
                    name: "healthbus zone",
                    summary:
                        "Show or change where a person's days begin: set <zone>, add <from> <zone>, remove <from>.",
                    positionals: [
                        .init("show|set|add|remove"), .init("from|zone", isRequired: false, repeats: true),
                    ],
                    options: stackOptions + [user("whose days (default: me)"), json],
                    examples: [
                        "healthbus zone show", "healthbus zone set Europe/Berlin",
                        "healthbus zone add 2025-03-30T14:00 America/New_York",
                        "healthbus zone remove 2025-03-30T14:00",
                    ])
            ),
            (
                "sync",
                CommandHelp(
                    name: "healthbus sync",
                    summary: "Sync now: release what waits, and wait until it is delivered or it is clear why not.",
                    positionals: [.init("metric", isRequired: false)],
                    options: stackOptions + [
                        .init(
                            "--history", value: "days|all",
                            help: "compute and deliver so many past days once more, the newest week first"),
                        json,
                    ],
                    examples: ["healthbus sync", "healthbus sync steps --json", "healthbus sync --history 90"])
            ),
            (
                "history",
                CommandHelp(
                    name: "healthbus history",
                    summary: "Show how the last syncs went, and how long samples take to the backend.",
                    options: stackOptions + [json], examples: ["healthbus history", "healthbus history --json"])
            ),
            (
                "tasks",
                CommandHelp(
                    name: "healthbus tasks",
                    summary: "List the scheduled tasks; launch, expire or cancel one, as a debugger on a phone would.",
                    positionals: [
                        .init("list|launch|expire|cancel", isRequired: false), .init("task", isRequired: false),
                    ],
                    options: stackOptions + [json],
                    examples: ["healthbus tasks list", "healthbus tasks launch healthkit-sync"])
            ),
            (
                "types",
                CommandHelp(
                    name: "healthbus types",
                    summary: "Show how each type is delivered; switch types off and on, set how often they wake.",
                    positionals: [
                        .init("off|on|frequency|deny|allow", isRequired: false), .init("type", isRequired: false),
                        .init("frequency", isRequired: false),
                    ],
                    options: stackOptions + [json],
                    examples: [
                        "healthbus types", "healthbus types off BodyMass", "healthbus types frequency StepCount hourly",
                    ])
            ),
            (
                "device",
                CommandHelp(
                    name: "healthbus device",
                    summary:
                        "Show or set what the stack knows of the phone: its app, its lock, its battery, its network.",
                    positionals: [
                        .init("show|set|reset", isRequired: false),
                        .init("key=value", isRequired: false, repeats: true),
                    ],
                    options: stackOptions + [json],
                    examples: [
                        "healthbus device", "healthbus device set locked=true app=background", "healthbus device reset",
                    ])
            ),
            (
                "alerts",
                CommandHelp(
                    name: "healthbus alerts", summary: "Show what a person should know of now, and what to do.",
                    options: stackOptions + [json], examples: ["healthbus alerts", "healthbus alerts --json"])
            ),
            (
                "tap",
                CommandHelp(
                    name: "healthbus tap",
                    summary: "Print every message that passes on the bus, decoded. Changes nothing.",
                    positionals: [.init("topic-prefix", isRequired: false, repeats: true)],
                    options: stackOptions + [
                        .init("--count", value: "number", help: "end after so many"),
                        .init("--json", help: "one JSON object a line on standard output, nothing else there"),
                    ],
                    examples: ["healthbus tap figures. daily.", "healthbus tap --json --count 10 heartbeat."])
            ),
        ])
}
