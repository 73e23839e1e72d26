rule write_report:
    input:
        **dict(rules.aggregate.output.items()),
        **dict(rules.statistics.output.items()),
        plan=rules.plan.output.record,
        idle=idle_records,
        records=listed_records,
        stopping=of_stopping("record"),
        models=trained_models,
        exports=checked_exports,
        parity=parity_sheets,
        environments=environments,
        tables=rules.tables.output,
        replication=replicated_tables,
        functions=named_functions,
        profiles=own_profiles,
        profiled=profiled_runs,
        operators=joules_of_operators,
        published=paper_files("resources/published", "csv"),
        authors=authors_results,
        figures=drawn_figures,
        template=multiext(
            "src/framewatt/report/",
            "template.html.j2",
            "macros.html.j2",
            "style.css.j2",
            "page.js.j2",
        ),
        caption="docs/captions/report.rst",
        image=orchestrator_image,
    output:
        page=report(
            "results/{study}/report/report.html",
            caption="../docs/captions/report.rst",
            category="Report",
            labels={"study": "{study}"},
        ),
    log:
        "logs/{study}/report.log",
    conda:
        "../envs/orchestrator/environment.yaml"
    params:
        paper=settings("replicates"),
        profiled=lambda wildcards: (
            OWN_PROFILES[wildcards.study].tables
            if wildcards.study in OWN_PROFILES
            else {}
        ),
    message:
        "writing the report"
    script:
        "../scripts/report.py"


rule complete:
    input:
        report=rules.write_report.output.page,
        plan=rules.plan.output.record,
        idle=idle_records,
        records=listed_records,
        stopping=of_stopping("record"),
        profiled=profiled_runs,
        about=told_of_operators,
        repeated=compared_operators,
        environments=environments,
        image=orchestrator_image,
    output:
        done="results/{study}/report/complete.txt",
    log:
        "logs/{study}/complete.log",
    conda:
        "../envs/orchestrator/environment.yaml"
    params:
        mode=MODE,
        host=HOST,
    message:
        "looking for what is missing"
    script:
        "../scripts/complete.py"


rule report:
    input:
        expand(
            [rules.write_report.output.page, rules.complete.output.done],
            study=STUDY.name,
        ),
