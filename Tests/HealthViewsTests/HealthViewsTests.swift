import Configuration
import Foundation
import HealthViews
import SQLite
import Testing

@Suite struct HealthViewsTests {
    private static let checkout = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// Read from the manifests of this checkout.
    private static func figures() throws -> [FigureDeclaration] {
        let catalog = try PluginCatalog(folder: checkout.appending(path: "plugins").path, programs: "/nowhere")
        return try StackConfiguration(path: nil, catalog: catalog).figures
    }

    @Test func figuresAreColumns() throws {
        let views = HealthViews(figures: try Self.figures())
        let days = try #require(views[.days]).columns.map(\.name)
        #expect(days.starts(with: ["user_id", "date", "zone", "final", "revision", "version"]))
        for name in [
            "steps", "distance_meters", "heart_rate_average", "hrv_sdnn_milliseconds", "sleep_asleep_minutes",
            "body_mass_kilograms", "water_milliliters", "workouts", "other",
        ] {
            #expect(days.contains(name))
        }
        let hours = try #require(views[.hours]).columns.map(\.name)
        #expect(Array(hours.prefix(4)) == ["user_id", "date", "hour", "start_date"])
        for name in ["steps", "heart_rate", "heart_rate_min", "heart_rate_max", "water_milliliters"] {
            #expect(hours.contains(name))
        }
        for view in views.all { #expect(Set(view.columns.map(\.name)).count == view.columns.count) }
    }

    /// A person's own handler may give its figure any name; if the name is already taken, a number is added.
    @Test(arguments: [
        ("caffeineGrams", "caffeine_grams"), ("my.ownFigure", "my_own_figure"), ("version", "version_2"),
        ("Größe 2", "gr__e_2"), ("it's", "it_s"),
    ])
    func ownFigures(_ member: String, _ column: String) throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).json")
        defer { try? FileManager.default.removeItem(at: file) }
        let manifest = """
            {"name": "own", "version": 1, "protocol": {"min": 1, "max": 1}, "kind": "handler", "executable": "own",
             "figures": [{"name": "\(member)", "hourly": "\(member)"}]}
            """
        try Data(manifest.utf8).write(to: file)
        let database = try ViewedBackend(figures: [try Manifest(file: file.path)].figures)
        let body = member.split(separator: ".").reversed().reduce("7") { "{\"\($1)\":\($0)}" }
        try database.add(document: "2025-03-30", kind: 0, body: body)
        #expect(try database.rows("SELECT \(column) FROM days") == ["7"])
        if !member.contains("."), member != "version" { _ = try database.rows("SELECT \(column) FROM hours") }
    }

    @Test func samplesAreUnpacked() throws {
        let database = try ViewedBackend(figures: try Self.figures())
        // 2025-03-30T06:15:00Z and 1500 ms before 1970; the time in the second id is 0.
        try database.execute(
            """
            INSERT INTO kinds VALUES(1, 2, 3, 4, 0), (2, 2, 0, 0, 1);
            INSERT INTO texts VALUES(1, 'me'), (2, 'Type'), (3, 'count'), (4, 'O''Neill'), (5, '{"a":1}');
            INSERT INTO sample_rows VALUES(1, x'0195e5b06ea08abc8def0123456789ab', 7, 0, 1, 0, 600, 612.5, 1, 5, NULL,
                x'0195E5B06EA08ABC8DEF0123456789AC', NULL);
            INSERT INTO sample_rows VALUES(1, x'0000000000008abc8def0123456789ab', 8, 0, 2, -1500000, -250000, NULL, 1,
                '{"b":2}', '[1]', NULL, NULL);
            INSERT INTO sample_rows VALUES(1, 'own-id', 9, 0, 2, 1743315300000001, 0, 1, 1, NULL, NULL, 'theirs', NULL);
            INSERT INTO sample_rows VALUES(1, 'gone', 10, 1, 2, 0, 0, NULL, 1, NULL, NULL, NULL, NULL);
            """)
        let uuid = "0195e5b0-6ea0-8abc-8def-0123456789a"
        let first = "\(uuid)b|me|Type|2025-03-30T06:15:00Z|2025-03-30T06:25:00Z|612.5|count|O'Neill|healthkit|\(uuid)c|"
        #expect(
            Set(try database.rows("SELECT * FROM samples")) == [
                first + "{\"a\":1}||7",
                "00000000-0000-8abc-8def-0123456789ab|me|Type|1969-12-31T23:59:58.5Z|1969-12-31T23:59:58.75Z|||"
                    + "|manual||{\"b\":2}|[1]|8",
                "own-id|me|Type|2025-03-30T06:15:00.000001Z|2025-03-30T06:15:00.000001Z|1.0|||manual|theirs|||9",
            ])
        #expect(
            try database.rows("SELECT source, samples, first_date, last_date FROM sources ORDER BY samples") == [
                "O'Neill|1|2025-03-30T06:15:00Z|2025-03-30T06:15:00Z",
                "|2|1969-12-31T23:59:58.5Z|2025-03-30T06:15:00.000001Z",
            ])
    }

    @Test func documentsAreRows() throws {
        let database = try ViewedBackend(figures: try Self.figures())
        try database.execute("INSERT INTO texts VALUES(1, 'me')")
        // The clock skips from 02:00 to 03:00; a text isn't a number; and a list that is too short just ends.
        try database.add(
            document: "2025-03-30", kind: 0,
            body: """
                {"steps":8697.5,"final":true,"revision":2,"zone":"Europe/Berlin","workouts":[{"activity":"running"}],
                 "heartRate":{"average":61},"distanceMeters":"far",
                 "hours":{"start":["2025-03-30T01:00:00+01:00","2025-03-30T03:00:00+02:00"],"steps":[1,null],"heartRate":[61.5]}}
                """)
        #expect(
            try database.rows(
                "SELECT date, zone, final, revision, steps, heart_rate_average, distance_meters, workouts, other FROM days"
            ) == ["2025-03-30|Europe/Berlin|1|2|8697.5|61||[{\"activity\":\"running\"}]|{}"])
        #expect(
            try database.rows("SELECT date, hour, start_date, steps, heart_rate FROM hours ORDER BY start_date") == [
                "2025-03-30|1|2025-03-30T00:00:00Z|1|61.5", "2025-03-30|3|2025-03-30T01:00:00Z||",
            ])
        try database.add(document: "2025-03-31", kind: 0, body: "{\"steps\":1}")
        // As in `healthbus days`: a day without workouts has an empty list.
        #expect(
            try database.rows("SELECT steps, workouts, naps, other FROM days WHERE date = '2025-03-31'") == [
                "1|[]|[]|{}"
            ])
        #expect(try database.rows("SELECT count(*) FROM hours") == ["2"])
        try database.add(
            document: "w", kind: 1, times: (1_743_315_300_000_000, 1_743_318_900_000_000),
            body: """
                {"type":"running","duration":3600,"distance":10000.5,"activeEnergy":null,"route":{"points":3},
                 "heartRate":{"average":142}}
                """)
        #expect(
            try database.rows(
                """
                SELECT id, activity, start_date, end_date, duration_seconds, distance_meters, active_energy_kcal,
                    heart_rate_average, route_points FROM workouts
                """) == ["w|running|2025-03-30T06:15:00Z|2025-03-30T07:15:00Z|3600|10000.5||142|3"])
        try database.add(
            document: "n", kind: 2, date: "2025-03-30",
            body: """
                {"main":true,"asleepMinutes":380,"source":"Watch","sources":[{"source":"Watch","asleepMinutes":380}]}
                """)
        try database.add(
            document: "o", kind: 2, date: "2025-03-30",
            body: "{\"main\":false,\"asleepMinutes\":null,\"inBedMinutes\":60,\"source\":\"iPhone\",\"sources\":[]}")
        #expect(
            try database.rows(
                "SELECT date, main, asleep_minutes, in_bed_minutes, source, sources FROM nights ORDER BY id"
            ) == [
                "2025-03-30|1|380||Watch|[{\"source\":\"Watch\",\"asleepMinutes\":380}]",
                "2025-03-30|0||60|iPhone|[]",
            ])
        try database.execute("UPDATE documents SET deleted = 1")
        for view in ["days", "hours", "nights", "workouts", "workout_parts"] {
            #expect(try database.rows("SELECT count(*) FROM \(view)") == ["0"])
        }
    }

    @Test func partsOfWorkoutsAreRows() throws {
        let database = try ViewedBackend(figures: [])
        try database.add(
            document: "swim", kind: 1,
            body: """
                {"type":"swimming","swimmingStrokes":412,
                 "activities":[{"activity":"swimming","start":"2025-03-30T06:15:00Z","end":"2025-03-30T07:15:00Z",
                   "durationSeconds":3500,"distanceMeters":1500,"energyKilocalories":null,"swimmingStrokes":412}],
                 "events":[{"type":"HKWorkoutEventTypeLap","date":"2025-03-30T06:15:00Z","durationSeconds":30.5,
                     "metadata":{"HKSwimmingStrokeStyle":"2"},"start":"2025-03-30T06:15:00Z","end":"2025-03-30T06:15:30.5Z"},
                   {"type":"HKWorkoutEventTypeSegment","start":"2025-03-30T06:15:00Z","end":"2025-03-30T06:25:00Z"}, 7]}
                """)
        try database.add(document: "old", kind: 1, body: #"{"activities":7,"events":null}"#)
        #expect(
            try database.rows(
                """
                SELECT workout_id, kind, start_date, end_date, duration_seconds, activity, distance_meters, swimming_strokes,
                    stroke_style, version FROM workout_parts
                """) == [
                    "swim|activity|2025-03-30T06:15:00Z|2025-03-30T07:15:00Z|3500|swimming|1500|412||5",
                    "swim|lap|2025-03-30T06:15:00Z|2025-03-30T06:15:30.5Z|30.5||||2|5",
                    "swim|segment|2025-03-30T06:15:00Z|2025-03-30T06:25:00Z||||||5",
                ])
        #expect(try database.rows("SELECT swimming_strokes FROM workouts WHERE id = 'swim'") == ["412"])
    }

    /// Pairs are found by source and time, so those that came without their correlation are rows too.
    @Test func bloodPressuresArePaired() throws {
        let database = try ViewedBackend(figures: [])
        try database.execute(
            """
            INSERT INTO texts VALUES(1, 'me'), (2, 'HKQuantityTypeIdentifierBloodPressureSystolic'),
                (3, 'HKQuantityTypeIdentifierBloodPressureDiastolic'), (4, 'Cuff'), (5, 'mmHg'), (6, 'Other');
            INSERT INTO kinds VALUES(1, 2, 5, 4, 0), (2, 3, 5, 4, 0), (3, 3, 5, 6, 0);
            INSERT INTO sample_rows VALUES(1, 'a', 7, 0, 1, 1743315300000000, 0, 121, 1, NULL, NULL, NULL, NULL),
                (1, 'b', 8, 0, 2, 1743315300000000, 0, 79, 1, NULL, NULL, NULL, NULL),
                (1, 'c', 9, 0, 3, 1743315300000000, 0, 81, 1, NULL, NULL, NULL, NULL),
                (1, 'd', 9, 1, 1, 1743315400000000, 0, 130, 1, NULL, NULL, NULL, NULL);
            """)
        #expect(
            Set(try database.rows("SELECT * FROM blood_pressures")) == [
                "me|2025-03-30T06:15:00Z|2025-03-30T06:15:00Z|121.0|79.0|Cuff|healthkit|8",
                "me|2025-03-30T06:15:00Z|2025-03-30T06:15:00Z||81.0|Other|healthkit|9",
            ])
    }

    @Test func bothDatabasesHaveTheSameColumns() throws {
        let views = HealthViews(figures: try Self.figures())
        let postgres = views.postgres(over: "healthbus", in: "health")
        #expect(
            views.sqlite.map(\.name) == HealthView.Name.allCases && postgres.map(\.name) == HealthView.Name.allCases)
        #expect(views.all.map(\.name) == HealthView.Name.allCases)
        for (view, (mine, theirs)) in zip(views.all, zip(views.sqlite, postgres)) {
            for column in view.columns {
                #expect(mine.text.contains(" AS \"\(column.name)\"") && theirs.text.contains(" AS \"\(column.name)\""))
            }
            #expect(theirs.text.hasPrefix("CREATE VIEW \"health\".\(view.name) AS"))
            #expect(mine.columns == view.columns.map(\.name) && theirs.columns == mine.columns)
            #expect(theirs.comments.count == view.columns.count + 1)
            if view.name == .days { #expect(theirs.query.contains(" ELSE '[]'::jsonb END AS \"workouts\"")) }
        }
    }

    /// `docs/queries.md` lists every view with its columns, in order: kind, unit, meaning.
    @Test func documentation() throws {
        let page = try String(contentsOf: Self.checkout.appending(path: "docs/queries.md"), encoding: .utf8)
        for view in HealthViews(figures: []).all {
            let section = try #require(page.components(separatedBy: "### `\(view.name)`").dropFirst().first)
            let table = section.components(separatedBy: "\n#").first ?? ""
            let listed = table.split(separator: "\n").filter { $0.hasPrefix("| `") }.map(String.init)
            #expect(
                listed
                    == view.columns.map {
                        "| `\($0.name)` | \($0.kind.rawValue) |\($0.unit.map { " \($0)" } ?? "") | \($0.meaning) |"
                    }, "\(view.name)")
        }
    }
}

/// A database that contains the tables on which the views are built.
private struct ViewedBackend {
    let database: Database

    init(figures: [FigureDeclaration]) throws {
        database = try Database(path: ":memory:")
        try database.execute(
            """
            CREATE TABLE texts(id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);
            CREATE TABLE kinds(id INTEGER PRIMARY KEY, type INTEGER, unit INTEGER, source INTEGER, manual INTEGER);
            CREATE TABLE sample_rows(user, id, version, deleted, kind, shift, duration, value REAL, batch, metadata, payload,
                uuid, moment, PRIMARY KEY(user, id)) WITHOUT ROWID;
            CREATE TABLE documents(user, kind, id, version, deleted, start, "end", date, body);
            """)
        for view in HealthViews(figures: figures).sqlite { try database.execute(view.text) }
    }

    func execute(_ sql: String) throws { try database.execute(sql) }

    func add(document id: String, kind: Int, times: (Int64, Int64) = (0, 0), date: String? = nil, body: String) throws {
        try database.execute("INSERT OR IGNORE INTO texts VALUES(1, 'me')")
        let insert = try database.prepare("INSERT INTO documents VALUES(1, ?, ?, 5, 0, ?, ?, ?, ?)")
        insert.bind(1, kind)
        insert.bind(2, id)
        insert.bind(3, times.0)
        insert.bind(4, times.1)
        if let date { insert.bind(5, date) }
        insert.bind(6, body)
        try insert.run()
    }

    /// Each row's columns, joined by "|".
    func rows(_ sql: String) throws -> [String] {
        var rows: [String] = []
        let statement = try database.prepare(sql)
        try statement.forEachRow { row in
            rows.append((0..<row.columnCount).map { row.string($0) }.joined(separator: "|"))
        }
        return rows
    }
}
